import CCurlShim
import Glibc
import Testing

@testable import SessionCore

@Suite("Downloads to files")
struct FileTests {
  private func server() throws -> ScriptedServer {
    try ScriptedServer { peer in
      while let request = peer.readRequest() {
        if request.target == "/cut" {
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
          return
        }
        if request.target == "/hang" {
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
          peer.waitForEnd()
          return
        }
        if request.target == "/gone" {
          peer.send(reply("404 Not Found", [], "error page"))
          continue
        }
        if request.target == "/same" {
          peer.send("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n")
          continue
        }
        peer.send(
          request.target == "/go" ? reply("302 F", ["Location: /x"], "redirect body") : reply("200 OK", [], "content"))
      }
    }
  }

  @Test("A file appears whole, replaces the old one, and takes no redirect's body")
  func whole() throws {
    let server = try server()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let client = Client()
    for path in ["/x", "/go"] {
      let result = client.get(server.url(path)) { $0.destination = .file(path: "\(directory.path)/out") }
      #expect(result.error == nil)
      #expect(result.body == nil)
      #expect(directory.read("out") == "content")
      #expect(directory.names == ["out"])
    }
  }

  @Test("An error page or a 304 never replaces a file", arguments: [("/gone", 404, "error page"), ("/same", 304, "")])
  func notTheFile(path: String, status: Int, body: String) throws {
    let server = try server()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    _ = directory.write("out", "old")
    let result = Client().get(server.url(path)) { $0.destination = .file(path: "\(directory.path)/out") }
    #expect(result.error == nil)
    #expect(result.response?.status == status)
    #expect(result.body?.text == body)
    #expect(directory.read("out") == "old")
    #expect(directory.names == ["out"])
  }

  @Test("A failure or a cancellation leaves the old file, and no other", arguments: [false, true])
  func failure(existing: Bool) throws {
    let server = try server()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    if existing { _ = directory.write("out", "old") }
    let client = Client()
    let cut = client.get(server.url("/cut")) { $0.destination = .file(path: "\(directory.path)/out") }
    #expect(cut.errorName == "network_connection_lost")
    let id = client.start(Request(url: server.url("/hang"))) {
      $0.destination = .file(path: "\(directory.path)/out")
      $0.interest = .progress
    }
    #expect(client.runUntil { if case .progress = $0 { true } else { false } })
    #expect(directory.names.contains(".out.httpscript-part"))
    client.core.submit(.cancelTask(id))
    #expect(client.finish(id).errorName == "cancelled")
    #expect(directory.names == (existing ? ["out"] : []))
    #expect(directory.read("out") == (existing ? "old" : nil))
  }

  @Test("What a killed process left is replaced; what a live one writes is not touched")
  func leftover() throws {
    let server = try server()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let part = directory.write(".out.httpscript-part", "a much longer leftover of a process that was killed")
    let client = Client()
    #expect(client.get(server.url("/x")) { $0.destination = .file(path: "\(directory.path)/out") }.error == nil)
    #expect(directory.read("out") == "content")
    #expect(directory.names == ["out"])

    _ = directory.write(".out.httpscript-part", "live")
    let descriptor = open(part, O_WRONLY)
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    let busy = client.get(server.url("/x")) { $0.destination = .file(path: "\(directory.path)/out") }
    #expect(busy.errorName == "cannot_create_file")
    #expect(busy.error?.message.contains("another task or process is writing it") == true)
    #expect(directory.read(".out.httpscript-part") == "live")
    close(descriptor)
  }

  @Test("A name as long as names may be; and its temporary name tells it from one that begins alike")
  func longNames() throws {
    let server = try server()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let client = Client()
    for length in [230, 250, 255] {
      let name = String(repeating: "n", count: length)
      #expect(client.get(server.url("/x")) { $0.destination = .file(path: "\(directory.path)/\(name)") }.error == nil)
      #expect(directory.read(name) == "content")
    }
    #expect(directory.names.count == 3)
    let temporary = [250, 255].map { FileSink.temporaryPath(for: "/a/" + String(repeating: "n", count: $0)) }
    #expect(temporary[0] != temporary[1] && temporary.allSatisfy { $0.utf8.count <= 3 + 255 })
  }

  @Test("A symbolic link leads to the file that is written", arguments: ["target", "absent", "chain"])
  func link(to target: String) throws {
    let server = try server()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    _ = directory.write("target", "old")
    symlink("target", "\(directory.path)/chain")
    symlink(target, "\(directory.path)/link")
    let client = Client()
    #expect(client.get(server.url("/x")) { $0.destination = .file(path: "\(directory.path)/link") }.error == nil)
    #expect(directory.read(target) == "content")
    #expect(directory.read("target") == (target == "absent" ? "old" : "content"))
    var status = stat()
    #expect(lstat("\(directory.path)/link", &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
  }

  @Test("Two tasks to one place: the second is refused, not mixed in")
  func twice() throws {
    let server = try server()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let client = Client()
    let first = client.start(Request(url: server.url("/hang"))) {
      $0.destination = .file(path: "\(directory.path)/out")
    }
    let second = client.start(Request(url: server.url("/x"))) { $0.destination = .file(path: "\(directory.path)/out") }
    #expect(client.finish(second).errorName == "cannot_create_file")
    client.core.submit(.cancelTask(first))
    #expect(client.finish(first).errorName == "cancelled")
  }

  @Test("Places that cannot be written are named, before anything is asked of the server")
  func unwritable() throws {
    let server = try server()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let client = Client()
    let missing = client.get(server.url("/x")) { $0.destination = .file(path: "\(directory.path)/none/out") }
    #expect(missing.errorName == "cannot_create_file")
    #expect(missing.error?.underlying?.code == Int(ENOENT))
    let isDirectory = client.get(server.url("/x")) { $0.destination = .file(path: directory.path) }
    #expect(isDirectory.errorName == "file_is_directory")
    #expect(server.requests.isEmpty)
    let full = client.get(server.url("/x")) { $0.destination = .file(path: "/dev/full") }
    #expect(full.errorName == "cannot_write_to_file")
    #expect(full.error?.underlying?.code == Int(ENOSPC))
    let null = client.get(server.url("/x")) { $0.destination = .file(path: "/dev/null") }
    #expect(null.error == nil)
  }

  @Test("The mode follows the umask; a link at the temporary name is not followed")
  func safety() throws {
    let server = try server()
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let target = directory.write("precious", "precious")
    symlink(target, "\(directory.path)/.out.httpscript-part")
    let client = Client()
    let result = client.get(server.url("/x")) { $0.destination = .file(path: "\(directory.path)/out") }
    #expect(result.errorName == "cannot_create_file")
    #expect(directory.read("precious") == "precious")
    unlink("\(directory.path)/.out.httpscript-part")
    #expect(client.get(server.url("/x")) { $0.destination = .file(path: "\(directory.path)/out") }.error == nil)
    var status = stat()
    stat("\(directory.path)/out", &status)
    let mask = umask(0)
    umask(mask)
    #expect(status.st_mode & 0o777 == 0o666 & ~mask)
  }
}
