/// A reproducible sequence of numbers.
public struct SeededNumbers: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The same seed gives the same numbers.
  public init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678 }

  /// The next number.
  public mutating func next() -> UInt64 {
    state = state &+ 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// One from 0 on.
  public mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(1, limit), using: &self) }
  /// True once in so many times.
  public mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
}

/// One file of a server that breaks, lies, and changes the file. What it never does is what no client could notice:
/// giving other bytes of a part under the validator of the ones before.
///
/// It belongs to one thread at a time: its server's mutex is around it.
public final class LyingFile: @unchecked Sendable {
  /// What the file was at one time.
  public struct Version: Sendable {
    /// Its bytes.
    public let bytes: [UInt8]
    let tag: String
    let date: String
  }

  /// What the file was, the last one now.
  public private(set) var versions: [Version] = []
  private var numbers: SeededNumbers
  private let usesDates: Bool
  private let usesWeakTags: Bool
  private var requests = 0
  private let size: Int

  /// A file of up to so many bytes.
  public init(seed: UInt64, size: Int = 6000) {
    self.size = size
    numbers = SeededNumbers(seed: seed)
    usesDates = numbers.oneIn(6)
    usesWeakTags = numbers.oneIn(20)
    change()
  }

  private var current: Version { versions[versions.count - 1] }

  private func change() {
    var bytes = (0..<numbers.below(size)).map { _ in UInt8.random(in: 0...255, using: &numbers) }
    // Often the same beginning, or the same length, as a file has that is edited.
    if let last = versions.last?.bytes, numbers.oneIn(2) {
      let count = numbers.below(min(last.count, bytes.count) + 1)
      bytes.replaceSubrange(0..<count, with: last[..<count])
      if numbers.oneIn(2), bytes.count > last.count { bytes.removeLast(bytes.count - last.count) }
    }
    let number = versions.count + 1
    let day = 10 + number % 18
    versions.append(
      Version(bytes: bytes, tag: "\"v\(number)\"", date: "Mon, \(day) Jan 20\(10 + number / 18) 00:00:00 GMT"))
  }

  /// What a connection gets for a request with these fields, and whether it stays open.
  public func answer(range: String?, condition: String?) -> (bytes: [UInt8], staysOpen: Bool) {
    requests += 1
    if requests > 1, numbers.oneIn(5) { change() }
    if numbers.oneIn(40) { return (plain("503 Service Unavailable", Array("come again".utf8)), true) }
    let whole = response(range, condition)
    guard numbers.oneIn(2) else { return (whole, true) }
    return (Array(whole.prefix(numbers.below(whole.count))), false)
  }

  private func response(_ range: String?, _ condition: String?) -> [UInt8] {
    guard let range else {
      if numbers.oneIn(30) { return part(from: numbers.below(3)) }
      return complete()
    }
    let asked = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" }) ?? 0
    let matches = condition == (usesDates ? current.date : current.tag)
    switch numbers.below(24) {
    case 0: return complete()
    case 1: return plain("304 Not Modified", nil)
    case 2: return plain("412 Precondition Failed", Array("no".utf8))
    case 3: return unsatisfiable(current.bytes.count)
    case 4: return unsatisfiable(asked)
    case 5: return unsatisfiable(nil)
    case 6: return part(from: max(0, asked - numbers.below(size / 120)))
    case 7: return part(from: asked + 1 + numbers.below(size / 300))
    case 8: return part(from: asked, count: 1 + numbers.below(size / 20))
    case 9: return part(from: asked, namesRange: false)
    case 10: return part(from: asked, namesValidator: false)
    case 11: return part(from: asked, isCoded: true)
    // The condition is not looked at.
    case 12: return part(from: asked)
    case 13: return part(from: asked, more: Array("and more than it says".utf8))
    case 14: return part(from: asked, more: [], lengthError: -1 - numbers.below(40))
    case 15: return part(from: 0)
    default: return matches ? part(from: asked) : complete()
    }
  }

  private var validatorFields: String {
    if usesDates { return "Last-Modified: \(current.date)\r\nDate: Mon, 01 Jan 2035 00:00:00 GMT\r\n" }
    return "ETag: \(usesWeakTags ? "W/" : "")\(current.tag)\r\n"
  }

  private func complete() -> [UInt8] { framed("HTTP/1.1 200 OK\r\n" + validatorFields, current.bytes) }

  /// Part of the file; where there is no such part, that is said.
  private func part(
    from first: Int, count: Int? = nil, namesRange: Bool = true, namesValidator: Bool = true, isCoded: Bool = false,
    more: [UInt8] = [], lengthError: Int = 0
  ) -> [UInt8] {
    let total = current.bytes.count
    guard first < total else { return unsatisfiable(total) }
    let end = min(total, count.map { first + $0 } ?? total)
    var body = Array(current.bytes[first..<end]) + more
    var head = "HTTP/1.1 206 Partial Content\r\n"
    if namesValidator { head += validatorFields }
    if namesRange { head += "Content-Range: bytes \(first)-\(end - 1)/\(numbers.oneIn(8) ? "*" : "\(total)")\r\n" }
    if isCoded { head += "Content-Encoding: gzip\r\n" }
    if lengthError < 0 { body.removeLast(min(-lengthError, body.count)) }
    return framed(head, body)
  }

  private func unsatisfiable(_ length: Int?) -> [UInt8] {
    let field = length.map { "Content-Range: bytes */\($0)\r\n" } ?? ""
    let validator = numbers.oneIn(2) ? validatorFields : ""
    return framed("HTTP/1.1 416 Range Not Satisfiable\r\n" + field + validator, Array("<html>no</html>".utf8))
  }

  private func plain(_ status: String, _ body: [UInt8]?) -> [UInt8] {
    let head = "HTTP/1.1 \(status)\r\n\(validatorFields)"
    guard let body else { return Array((head + "\r\n").utf8) }
    return framed(head, body)
  }

  private func framed(_ head: String, _ body: [UInt8]) -> [UInt8] {
    if numbers.oneIn(3) {
      var bytes = Array("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8)
      var rest = body[...]
      while !rest.isEmpty {
        let count = min(rest.count, 1 + numbers.below(size * 3 / 20))
        bytes += Array("\(String(count, radix: 16))\r\n".utf8) + rest.prefix(count) + [13, 10]
        rest = rest.dropFirst(count)
      }
      return bytes + Array("0\r\n\r\n".utf8)
    }
    return Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
  }
}
