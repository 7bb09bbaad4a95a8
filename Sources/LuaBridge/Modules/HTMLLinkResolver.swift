/// Resolves a reference against an absolute URL; nil where that gives no URL. Injected, because URLs are libcurl's
/// business and libcurl is the core's.
public typealias URLResolver = (_ reference: String, _ base: String) -> String?

/// Makes references absolute, by the rules of the HTML standard for a document's base URL.
struct HTMLLinkResolver {
  /// The URL that references are relative to; nil when the document has none.
  let base: String?
  private let resolve: URLResolver
  private let plain: HTMLPlainReferences?
  /// Answers by reference without fragment: most links of a page differ in that only, or not at all.
  private var known: [String: String?] = [:]

  /// Schemes whose URLs name nothing that can be fetched.
  private static let unfetchable: Set<String> = [
    "javascript", "mailto", "data", "tel", "sms", "about", "blob", "vbscript",
  ]

  /// - Parameter declared: the `href` of the first `<base>` that has one.
  init(url: String?, declared: String?, resolve: @escaping URLResolver) {
    base = HTMLLinkResolver.base(url, declared.map(HTMLLinkResolver.cleaned), resolve)
    plain = base.flatMap { HTMLPlainReferences(base: $0, resolve: resolve) }
    self.resolve = resolve
  }

  private static func base(_ url: String?, _ declared: String?, _ resolve: URLResolver) -> String? {
    guard let declared else { return url }
    let scheme = HTMLLinkResolver.scheme(declared)
    let usable = scheme != "data" && scheme != "javascript"
    return usable ? resolve(declared, url ?? declared) ?? url : url
  }

  /// The absolute URL, fragment kept; nil for what cannot be fetched or is no URL.
  mutating func absolute(_ reference: String) -> String? {
    var reference = reference
    var url: [UInt8] = []
    let isKnown = reference.withUTF8 { append(UnsafeRawBufferPointer($0), withFragment: true, to: &url) }
    return isKnown ? String(decoding: url, as: UTF8.self) : nil
  }

  /// Appends the absolute URL of a reference; false, and nothing is appended, for what cannot be fetched or is no URL.
  mutating func append(_ reference: UnsafeRawBufferPointer, withFragment: Bool, to url: inout [UInt8]) -> Bool {
    if let plain, plain.append(reference, withFragment: withFragment, to: &url) { return true }
    let cleaned = HTMLLinkResolver.cleaned(String(decoding: reference, as: UTF8.self))
    guard let answer = withFragment ? whole(cleaned) : lookUp(HTMLLinkResolver.withoutFragment(cleaned)) else {
      return false
    }
    url.append(contentsOf: answer.utf8)
    return true
  }

  private mutating func whole(_ cleaned: String) -> String? {
    guard let hash = cleaned.utf8.firstIndex(of: UInt8(ascii: "#")) else { return lookUp(cleaned) }
    // What needs percent-encoding is the URL parser's business as well.
    guard cleaned.utf8[hash...].allSatisfy(HTMLPlainReferences.isPlainInFragment) else { return find(cleaned) }
    return lookUp(String(cleaned[..<hash])).map { $0 + cleaned[hash...] }
  }

  private static func withoutFragment(_ cleaned: String) -> String {
    cleaned.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(cleaned[..<$0]) } ?? cleaned
  }

  private mutating func lookUp(_ reference: String) -> String? {
    if let answer = known[reference] { return answer }
    let answer = find(reference)
    known[reference] = .some(answer)
    return answer
  }

  private func find(_ reference: String) -> String? {
    let scheme = HTMLLinkResolver.scheme(reference)
    if let scheme, HTMLLinkResolver.unfetchable.contains(scheme) { return nil }
    guard let base = base ?? (scheme == nil ? nil : reference) else { return nil }
    guard let url = resolve(reference, base), HTMLLinkResolver.scheme(url) != nil else { return nil }
    return url
  }

  /// In lower case; nil for a relative reference.
  static func scheme(_ reference: String) -> String? {
    var scheme: [UInt8] = []
    for byte in reference.utf8 {
      switch byte {
      case 0x3A: return scheme.isEmpty ? nil : String(decoding: scheme, as: UTF8.self)
      case 0x61...0x7A: scheme.append(byte)
      case 0x41...0x5A: scheme.append(byte | 0x20)
      case 0x30...0x39, 0x2B, 0x2D, 0x2E: if scheme.isEmpty { return nil } else { scheme.append(byte) }
      default: return nil
      }
    }
    return nil
  }

  /// Without the white space and control characters around it and the tabs and line ends in it (URL standard).
  static func cleaned(_ reference: String) -> String {
    var reference = reference
    let isClean = reference.withUTF8 { bytes in
      guard let first = bytes.first, let last = bytes.last, first > 0x20, last > 0x20 else { return bytes.isEmpty }
      for byte in bytes where byte <= 13 && (byte == 9 || byte == 10 || byte == 13) { return false }
      return true
    }
    if isClean { return reference }
    var kept = Array(reference.utf8.drop { $0 <= 0x20 })
    while let byte = kept.last, byte <= 0x20 { kept.removeLast() }
    kept.removeAll { $0 == 9 || $0 == 10 || $0 == 13 }
    return String(decoding: kept, as: UTF8.self)
  }
}
