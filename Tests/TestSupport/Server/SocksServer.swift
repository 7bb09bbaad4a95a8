import Foundation

/// A SOCKS proxy of versions 4, 4a and 5 that answers the tunnelled request itself: with what it was asked for, as in
/// `5 name:80 user:word GET /x`.
public enum SocksServer {
  /// Starts one. With `password`, version 5 clients must give that user and password.
  public static func make(user: String? = nil, password: String = "") throws -> ScriptedServer {
    try ScriptedServer { connection in
      let version = try connection.read(count: 1)[0]
      let asked =
        version == 4
        ? try acceptVersion4(connection) : try acceptVersion5(connection, user.map { ($0, password) })
      while let request = try connection.readRequest() {
        try connection.send(Reply("\(asked) \(request.line)"), to: request)
      }
    }
  }

  private static func acceptVersion4(_ connection: Connection) throws -> String {
    let head = try connection.read(count: 7)
    let port = Int(head[1]) << 8 | Int(head[2])
    var host = head[3...6].map(String.init).joined(separator: ".")
    let user = try text(connection)
    // 0.0.0.x: the name follows (4a).
    let isNamed = head[3] == 0 && head[4] == 0 && head[5] == 0 && head[6] != 0
    if isNamed { host = try text(connection) }
    try connection.send([0, 90, 0, 0, 0, 0, 0, 0])
    return "\(isNamed ? "4a" : "4") \(host):\(port) \(user)"
  }

  private static func text(_ connection: Connection) throws -> String {
    var bytes: [UInt8] = []
    while true {
      let byte = try connection.read(count: 1)[0]
      if byte == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
  }

  private static func acceptVersion5(_ connection: Connection, _ wanted: (String, String)?) throws -> String {
    let count = Int(try connection.read(count: 1)[0])
    let methods = try connection.read(count: count)
    var credentials = ""
    if let wanted {
      guard methods.contains(2) else {
        try connection.send([5, 255])
        throw ConnectionClosed()
      }
      try connection.send([5, 2])
      _ = try connection.read(count: 1)
      let user = try counted(connection)
      let password = try counted(connection)
      let isRight = user == wanted.0 && password == wanted.1
      try connection.send([1, isRight ? 0 : 1])
      guard isRight else { throw ConnectionClosed() }
      credentials = "\(user):\(password)"
    } else {
      try connection.send([5, 0])
    }
    let kind = try connection.read(count: 4)[3]
    let host: String
    switch kind {
    case 1: host = try connection.read(count: 4).map(String.init).joined(separator: ".")
    case 3: host = try counted(connection)
    default: host = "ipv6:" + (try connection.read(count: 16).map { String($0, radix: 16) }.joined())
    }
    let port = try connection.read(count: 2)
    try connection.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    return "\(kind == 3 ? "5h" : "5") \(host):\(Int(port[0]) << 8 | Int(port[1])) \(credentials)"
  }

  private static func counted(_ connection: Connection) throws -> String {
    let count = Int(try connection.read(count: 1)[0])
    return String(decoding: try connection.read(count: count), as: UTF8.self)
  }
}
