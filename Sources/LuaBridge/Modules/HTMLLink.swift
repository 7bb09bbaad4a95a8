import CXML

/// A reference from one document to another, as it is written.
struct HTMLLink {
  /// The element's name and the attribute that holds the reference.
  var tag: StaticString
  var attribute: StaticString
  var reference: String
  /// What the element says, white space collapsed.
  var text = ""
  var rel: String?
  /// Only where there is a tree.
  var node: xmlNodePtr?
}

/// Which attributes of which elements refer to other documents.
enum HTMLLinkRules {
  struct Source {
    let tag: StaticString
    let attribute: StaticString
    var isSet = false
    /// Hyperlinks are followed by the reader, the others loaded by the page.
    var isHyperlink = false
  }

  static let sources: [Source] = [
    Source(tag: "a", attribute: "href", isHyperlink: true), Source(tag: "area", attribute: "href", isHyperlink: true),
    Source(tag: "link", attribute: "href"), Source(tag: "script", attribute: "src"),
    Source(tag: "img", attribute: "src"), Source(tag: "img", attribute: "srcset", isSet: true),
    Source(tag: "source", attribute: "src"), Source(tag: "source", attribute: "srcset", isSet: true),
    Source(tag: "iframe", attribute: "src"), Source(tag: "frame", attribute: "src"),
    Source(tag: "video", attribute: "src"), Source(tag: "video", attribute: "poster"),
    Source(tag: "audio", attribute: "src"), Source(tag: "track", attribute: "src"),
    Source(tag: "embed", attribute: "src"), Source(tag: "object", attribute: "data"),
    Source(tag: "input", attribute: "src"), Source(tag: "form", attribute: "action"),
  ]

  /// The URLs of a `srcset`: each candidate up to its descriptor (HTML standard, "parse a srcset attribute").
  static func candidates(_ set: String) -> [String] {
    var found: [String] = []
    var rest = Substring(set)
    while true {
      rest = rest.drop { $0.isWhitespace || $0 == "," }
      guard !rest.isEmpty else { return found }
      var url = rest.prefix { !$0.isWhitespace }
      rest = rest[url.endIndex...]
      let ends = url.last == ","
      while url.last == "," { url.removeLast() }
      if !url.isEmpty { found.append(String(url)) }
      if !ends { rest = rest.drop { $0 != "," } }
    }
  }

  /// White space runs as one space, none at the ends.
  static func collapsed(_ text: UnsafeRawBufferPointer) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var pending = false
    for byte in text {
      if byte == 0x20 || (byte >= 9 && byte <= 13) {
        pending = !result.isEmpty
      } else {
        if pending { result.append(UInt8(ascii: " ")) }
        pending = false
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}

/// Resolves a reference against an absolute URL; nil where that gives no URL. Injected, because URLs are libcurl's
/// business and libcurl is the core's.
public typealias URLResolver = (_ reference: String, _ base: String) -> String?

/// Makes references absolute, by the rules of the HTML standard for a document's base URL.
struct HTMLLinkResolver {
  /// The URL that references are relative to; nil when the document has none.
  let base: String?
  private let resolve: URLResolver
  private var known: [String: String?] = [:]

  /// Schemes whose URLs name nothing that can be fetched.
  private static let unfetchable: Set<String> = [
    "javascript", "mailto", "data", "tel", "sms", "about", "blob", "vbscript",
  ]

  /// - Parameter declared: the `href` of the first `<base>` that has one.
  init(url: String?, declared: String?, resolve: @escaping URLResolver) {
    self.resolve = resolve
    guard let declared = declared.map(HTMLLinkResolver.cleaned) else {
      base = url
      return
    }
    let scheme = HTMLLinkResolver.scheme(declared)
    let usable = scheme != "data" && scheme != "javascript"
    base = usable ? resolve(declared, url ?? declared) ?? url : url
  }

  /// The absolute URL, fragment kept; nil for what cannot be fetched or is no URL.
  mutating func absolute(_ reference: String) -> String? {
    if let answer = known[reference] { return answer }
    let answer = find(HTMLLinkResolver.cleaned(reference))
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
    let bytes = reference.utf8
    guard let first = bytes.first, let last = bytes.last else { return reference }
    let isClean = first > 0x20 && last > 0x20 && !bytes.contains { $0 == 9 || $0 == 10 || $0 == 13 }
    if isClean { return reference }
    var kept = Array(bytes.drop { $0 <= 0x20 })
    while let byte = kept.last, byte <= 0x20 { kept.removeLast() }
    kept.removeAll { $0 == 9 || $0 == 10 || $0 == 13 }
    return String(decoding: kept, as: UTF8.self)
  }
}
