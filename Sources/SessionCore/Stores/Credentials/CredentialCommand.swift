import Glibc

/// A program that knows secrets: `credential_command`, as restic, rclone and git have it.
///
/// It is run with what is asked for on its standard input, a line `key=value` for each part and an empty line at the
/// end, as git asks its credential helpers: `protocol`, `host` (with the port where that is not the scheme's own),
/// `realm`, `authentication_method`, `username` where it is known. It answers with lines `username=`, `password=` or
/// `token=`; or, as restic and rclone ask, with the password alone on the first line, and the user is the one that was
/// configured. Its standard error is ours. A status other than 0 means that it knows nothing.
public struct CredentialCommand: Sendable {
  /// The program and its arguments.
  public var arguments: [String]
  /// Whose password the program gives where it does not say so itself.
  public var user: String?
  /// Seconds after which the program and what it has started are killed.
  public var timeout: Double

  public init(arguments: [String], user: String? = nil, timeout: Double = 30) {
    self.arguments = arguments
    self.user = user
    self.timeout = timeout
  }

  /// Why there is no credential. Never what the program wrote.
  enum Failure: Error, Equatable {
    case cannotStart(Int32)
    case timedOut
    case tooMuch
    case status(Int32)
    /// It wrote nothing of use.
    case noAnswer
    case notText

    var text: String {
      switch self {
      case .cannotStart(let number): "cannot be started: \(String(cString: strerror(number)))"
      case .timedOut: "took too long and was ended"
      case .tooMuch: "wrote more than 64 KiB and was ended"
      case .status(let status): "ended with status \(status)"
      case .noAnswer: "gave no credential"
      case .notText: "gave a credential that is not UTF-8, or has NUL in it"
      }
    }
  }

  /// What the program is told.
  func question(for space: ProtectionSpace) -> [UInt8] {
    let isUsual = URLParts.defaultPort(space.scheme) == space.port
    let host = isUsual ? space.host : "\(space.host):\(space.port)"
    var lines: [(String, Octets)] = [("protocol", Octets(space.scheme)), ("host", Octets(host))]
    if !space.realm.isEmpty { lines.append(("realm", space.realm)) }
    lines.append(("authentication_method", Octets(space.method)))
    if let user { lines.append(("username", Octets(user))) }
    var text: [UInt8] = []
    // A line break in a realm would be another line.
    for (key, value) in lines where !value.bytes.contains(where: { $0 == 0x0A || $0 == 0 }) {
      text += Array("\(key)=".utf8) + value.bytes + [0x0A]
    }
    return text + [0x0A]
  }

  /// The credential in what the program wrote.
  func credential(in output: [UInt8]) -> Credential? {
    let lines = output.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
    }
    var fields: [String: String] = [:]
    for line in lines {
      guard let equals = line.firstIndex(of: "="), Self.keys.contains(String(line[..<equals])) else { continue }
      fields[String(line[..<equals])] = String(line[line.index(after: equals)...])
    }
    if let token = fields["token"] { return Credential(.token(Octets(token))) }
    guard let password = fields["password"] ?? (fields.isEmpty ? lines.first : nil),
      let user = fields["username"] ?? user,
      !(fields.isEmpty && password.isEmpty)
    else { return nil }
    return Credential(.password(user: Octets(user), password: Octets(password)))
  }

  private static let keys: Set<String> = ["username", "password", "token"]

  /// Runs the program and waits for it; for a helper thread.
  func run(for space: ProtectionSpace) -> Result<Credential, Failure> {
    ChildProgram.run(arguments, input: question(for: space), timeout: timeout).flatMap { output in
      guard !output.contains(0), String(validating: output, as: UTF8.self) != nil else { return .failure(.notText) }
      return credential(in: output).map { .success($0) } ?? .failure(.noAnswer)
    }
  }
}
