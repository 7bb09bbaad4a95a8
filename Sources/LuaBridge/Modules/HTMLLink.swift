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
    collapse(text, into: &result)
    return String(decoding: result, as: UTF8.self)
  }

  /// The same, appended.
  static func collapse(_ text: UnsafeRawBufferPointer, into result: inout [UInt8]) {
    let start = result.count
    var pending = false
    for byte in text {
      if byte == 0x20 || (byte >= 9 && byte <= 13) {
        pending = result.count > start
      } else {
        if pending { result.append(UInt8(ascii: " ")) }
        pending = false
        result.append(byte)
      }
    }
  }

  /// Relations of `<link>` to what belongs to the page itself.
  private static let partsOfPage: Set<String> = [
    "stylesheet", "icon", "preload", "prefetch", "dns-prefetch", "preconnect", "modulepreload", "manifest",
    "mask-icon", "apple-touch-icon", "pingback", "prerender", "shortcut",
  ]

  /// Whether a `<link>` of these relations leads to a further page.
  static func leadsToPage(rel: String) -> Bool {
    rel.lowercased().utf8.split { $0 == 0x20 || ($0 >= 9 && $0 <= 13) }
      .allSatisfy { !partsOfPage.contains(String(decoding: $0, as: UTF8.self)) }
  }
}
