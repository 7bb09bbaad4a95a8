import Foundation
import TestSupport

/// A server that answers as curl's own test server does, for one test.
///
/// Which part of the reply is sent follows from the request: the number after the last slash, the
/// credentials it carries, and the words swsclose and swsbounce in what was sent before.
final class CurlReplay: Sendable {
  private let server: ScriptedServer

  /// The port it listens on.
  var port: Int { server.port }

  /// Every request so far, byte by byte.
  var wire: [UInt8] { server.requests.flatMap(\.wire) }

  /// Starts a server; the replies come later, because their text holds its port.
  init(_ replies: @escaping @Sendable () -> [String: String]) throws {
    let turn = Turn()
    server = try ScriptedServer { connection in
      while var request = try connection.readHead() {
        if request["Expect"]?.lowercased() == "100-continue" { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
        try connection.readBody(of: &request)
        connection.recordNow(request)
        guard let reply = replies()[turn.section(for: request)] else { return }
        turn.note(reply)
        try connection.send(latin1Bytes(reply))
        if Self.closes(reply, request) { return }
      }
    }
  }

  private static func closes(_ reply: String, _ request: ReceivedRequest) -> Bool {
    let lower = reply.lowercased()
    let isFramed = lower.contains("content-length:") || lower.contains("transfer-encoding:")
    return reply.contains("swsclose") || !isFramed || request.version == "HTTP/1.0"
      || lower.contains("connection: close") || !reply.hasPrefix("HTTP/1")
  }

  /// Which part comes next.
  private final class Turn: @unchecked Sendable {
    private let lock = NSLock()
    private var previous = -1
    private var bounces = false

    func section(for request: ReceivedRequest) -> String {
      lock.lock()
      defer { lock.unlock() }
      var part = Self.part(of: request.target)
      let fields = request.all("Authorization") + request.all("Proxy-Authorization")
      if fields.contains(where: { $0.hasPrefix("Digest") }) {
        part += 1000
      } else if fields.contains(where: { $0.hasPrefix("NTLM TlRMTVNTUAAB") }) {
        part += 1001
      } else if fields.contains(where: { $0.hasPrefix("NTLM TlRMTVNTUAAD") }) {
        part += 1002
      } else if part >= 1000, fields.contains(where: { $0.hasPrefix("Basic") }) {
        part += 1
      }
      if bounces, part == previous { part += 1 }
      previous = part
      return part == 0 ? "data" : "data\(part)"
    }

    func note(_ reply: String) {
      lock.lock()
      defer { lock.unlock() }
      bounces = reply.contains("swsbounce")
    }

    private static func part(of target: String) -> Int {
      let digits = target.split(separator: "/").last.map { $0.prefix { $0.isNumber } } ?? ""
      let number = Int(digits) ?? 0
      return number > 10_000 ? number % 10_000 : 0
    }
  }
}
