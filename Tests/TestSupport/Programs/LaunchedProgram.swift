import Foundation
import Glibc

/// A server program from the system, in a temporary directory on ephemeral ports.
///
/// It hangs on a leash: a shell that ends it, by process id, as soon as the pipe to the test process
/// closes. So it goes with the tests even when they crash.
public final class LaunchedProgram: Sendable {
  /// Why a program could not be had.
  public struct NotReady: Error, CustomStringConvertible {
    /// The program, and what it wrote.
    public let description: String
  }

  /// Its files.
  public let directory: TemporaryDirectory
  private let leash: Int32

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - command: program and arguments; the program is looked for on the usual path.
  ///   - environment: added to a bare environment.
  ///   - ports: it is ready once every one of these accepts a connection.
  public init(
    _ command: [String], in directory: TemporaryDirectory, environment: [String: String] = [:], ports: [Int]
  ) throws {
    self.directory = directory
    let script = """
      "$@" </dev/null >>"$0/output" 2>&1 & child=$!
      read -r _
      kill -TERM "$child"
      wait "$child"
      rm -rf "$0"
      """
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    let variables = ["PATH": path, "HOME": directory.path, "LANG": "C.UTF-8"].merging(environment) { $1 }
    var launch = Launch(
      program: "/bin/sh", arguments: ["-c", script, directory.path] + command, environment: variables,
      directory: directory.path)
    launch.streams = [.pipe, .null, .null]
    leash = try SpawnedChild(launch).ends[0]
    try ports.forEach { try waitFor(port: $0, of: command) }
  }

  deinit { close(leash) }

  private func waitFor(port: Int, of command: [String]) throws {
    for _ in 0..<400 {
      if LaunchedProgram.accepts(port) { return }
      poll(nil, 0, 25)
    }
    let output = directory.read("output").map { String(decoding: $0, as: UTF8.self) } ?? ""
    throw NotReady(description: "\(command.joined(separator: " ")): nobody listens on \(port)\n\(output)")
  }

  private static func accepts(_ port: Int) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    return withUnsafeBytes(of: &address) { raw in
      connect(descriptor, raw.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(raw.count)) == 0
    }
  }
}
