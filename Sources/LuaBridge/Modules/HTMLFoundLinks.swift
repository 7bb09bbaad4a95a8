import CXML

/// The links that a scan has found, as places in one block of bytes: a page may have ten thousand, and a text of its own
/// for each part of each would cost more than finding them.
struct HTMLFoundLinks {
  struct Link {
    var reference: Range<Int>
    /// What the element says, white space collapsed.
    var text = 0..<0
    var rel: Range<Int>?
  }

  private var bytes: [UInt8] = []
  private(set) var links: [Link] = []
  /// The `href` of the first `<base>` that has one.
  var base: String?

  mutating func add(reference: UnsafeRawBufferPointer, rel: UnsafePointer<xmlChar>?) {
    var link = Link(reference: keep(reference))
    if let rel { link.rel = keep(XMLLibrary.bytes(rel)) }
    links.append(link)
  }

  /// Says what the newest link's element says.
  mutating func setText(_ text: UnsafeRawBufferPointer) {
    guard let last = links.indices.last else { return }
    let start = bytes.count
    HTMLLinkRules.collapse(text, into: &bytes)
    links[last].text = start..<bytes.count
  }

  private mutating func keep(_ part: UnsafeRawBufferPointer) -> Range<Int> {
    let start = bytes.count
    bytes.append(contentsOf: part)
    return start..<bytes.count
  }

  /// Shows the bytes of a part.
  @inline(__always)
  func withPart<Result>(_ part: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[part])) }
  }
}
