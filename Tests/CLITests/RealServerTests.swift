import Foundation
import Glibc
import TestSupport
import Testing

/// nginx, Apache httpd and Caddy: ranges, resumed downloads and uploads with servers that people run.
@Suite struct RealServerTests {
  enum Server: String, CaseIterable, Sendable {
    case nginx, apache, caddy, caddyHTTP2
  }

  /// A server over a directory with a file of five megabytes, its origin, and what the session needs to trust it.
  private final class Site: Sendable {
    let directory: TemporaryDirectory
    let url: String
    let authority: String
    private let server: any Sendable

    init(_ kind: Server) throws {
      directory = try TemporaryDirectory()
      let path = try directory.write("file.bin", content)
      // A date that is long past is a strong validator; the servers' entity tags are anyway.
      var times = [timeval(tv_sec: 1_600_000_000, tv_usec: 0), timeval(tv_sec: 1_600_000_000, tv_usec: 0)]
      utimes(path, &times)
      switch kind {
      case .nginx:
        let nginx = try Nginx(root: directory.path)
        (server, url, authority) = (nginx, nginx.url, "")
      case .apache:
        let apache = try ApacheFiles(root: directory.path)
        (server, url, authority) = (apache, apache.url, "")
      case .caddy, .caddyHTTP2:
        let caddy = try Caddy(root: directory.path)
        (server, authority) = (caddy, caddy.authority)
        url = kind == .caddy ? caddy.url : caddy.tlsURL
      }
    }
  }

  static let content = (0..<5_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 40_503) >> 7) }

  @Test("a file in parts, and a download broken off and gone on with", arguments: Server.allCases)
  func ranges(kind: Server) async throws {
    let site = try Site(kind)
    let target = try TemporaryDirectory()
    let script = """
      local ca = arg[3] ~= "" and arg[3] or nil
      while ca and not io.open(ca) do http.sleep(0.05) end
      local offset
      local session = http.session(http.configuration.ephemeral {
        ca_file = ca, shared_container = arg[2], rate_limit = { receive = 20000000 },
      }, { did_resume_at_offset = function(_, _, at, expected) offset = at assert(expected == 5000000) end })
      local plain = http.session(http.configuration.ephemeral { ca_file = ca })
      assert(plain:get(base .. "/file.bin", { sink = arg[2] .. "/parts", segments = 4 }))
      local task = session:download_task(base .. "/file.bin")
      task:resume()
      while task.count_of_bytes_received < 1000000 do http.sleep(0.005) end
      local blob = task:cancel_by_producing_resume_data()
      assert(blob, "no resume data")
      task = session:download_task { resume_data = blob }
      task:resume()
      local r = assert(task:wait())
      print(r.status, offset and offset > 0 and offset < 5000000, r.http_version)
      assert(r:save(arg[2] .. "/resumed"))
      """
    try await expectScript(
      script, [site.url, target.path, site.authority],
      prints: ["206\ttrue\t\(kind == .caddyHTTP2 ? "2" : "1.1")"])
    #expect(target.read("parts") == Self.content)
    #expect(target.read("resumed") == Self.content)
    #expect(target.names == ["parts", "resumed"])
  }

  @Test("uploads by PUT arrive as they are", arguments: [Server.nginx, .apache])
  func uploads(kind: Server) async throws {
    let site = try Site(kind)
    let script = """
      local session = http.session(http.configuration.ephemeral(), {
        need_new_body_stream = function()
          local file = assert(io.open(arg[2], "rb"))
          return function(size) return file:read(size) end
        end,
      })
      for name, source in pairs { file = { file = arg[2] }, stream = { stream = true }, empty = { data = "" } } do
        local request = http.request { url = base .. "/dav/" .. name, method = "PUT" }
        local task = session:upload_task(request, source)
        task:resume()
        local r = assert(task:wait())
        assert(r.status == 201 or r.status == 204, name .. " " .. r.status)
      end
      for _, name in ipairs { "file", "stream", "empty" } do
        print(name, #assert(session:get(base .. "/dav/" .. name)).body)
      end
      """
    try await expectScript(
      script, [site.url, site.directory.path + "/file.bin"],
      prints: ["file\t5000000", "stream\t5000000", "empty\t0"])
    #expect(site.directory.read("dav/file") == Self.content)
    #expect(site.directory.read("dav/stream") == Self.content)
  }
}
