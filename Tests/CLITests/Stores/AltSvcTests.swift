import Foundation
import TestSupport
import Testing

/// Alternatives to an origin, offered by Alt-Svc.
@Suite struct AltSvcTests {
  @Test("an alternative is used, in later runs too, and given up where it cannot be reached")
  func alternative() async throws {
    let home = try TemporaryDirectory()
    let origin = try TLSServer()
    let other = try TLSServer()
    let both = try ["a": origin, "b": other].values.map { try String(contentsOfFile: $0.authority, encoding: .utf8) }
    let authorities = try home.write("ca.pem", Array(both.joined().utf8))
    let dead = Listener.deafPort
    func offer(_ port: Int) -> String { "/?header=Alt-Svc:%20http%252F1.1%3D%22localhost:\(port)%22" }
    let script = """
      local http, base, ca = require 'http', arg[1], arg[2]
      local session = http.session(http.configuration[arg[3]] { ca_file = ca, http_version = "1.1" })
      for i = 4, #arg do
        local r, err = session:get(base .. arg[i], { timeout = 20 })
        print(r and r.body or err.code, r and r.metrics.transaction_metrics[1].remote_port)
      end
      """
    func run(_ kind: String, _ paths: String...) async throws -> [String] {
      var run = Executable(.file(script), arguments: [origin.url, authorities, kind] + paths)
      run.environment = ["XDG_STATE_HOME": home.path]
      let result = try await run.run()
      #expect(result.ending == .exited(0), "\(result)")
      return result.lines.map { $0.replacingOccurrences(of: "\(origin.port)", with: "ORIGIN") }
        .map { $0.replacingOccurrences(of: "\(other.port)", with: "OTHER") }
    }
    let used = "localhost:OTHER\tOTHER"
    #expect(try await run("ephemeral", offer(other.port), "/?echo=Alt-Used").last == used)
    #expect(try await run("default", "/?echo=Alt-Used") == ["\tORIGIN"])
    _ = try await run("default", offer(other.port))
    #expect(try await run("default", "/?echo=Alt-Used", "/?echo=Host") == [used, "localhost:ORIGIN\tOTHER"])
    #expect(try await run("default", "/?header=Alt-Svc:%20clear", "/?echo=Alt-Used").last == "\tORIGIN")
    let lines = try await run("default", offer(dead), "/", "/?echo=Alt-Used")
    #expect(lines.dropFirst().first?.hasPrefix("cannot_connect_to_host") == true, "\(lines)")
    #expect(lines.last == "\tORIGIN", "\(lines)")
  }
}
