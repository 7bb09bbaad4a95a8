/// Makes plain references absolute by putting texts together: those of unreserved characters, without dot segments. They
/// are nearly all there are, and the URL parser takes thirty times as long over each.
///
/// What the parser makes of the base is asked of the parser, so this knows nothing of URLs but how a path ends; a test
/// holds it to the parser for thousands of references.
struct HTMLPlainReferences {
  /// The base without path, query and fragment.
  private let origin: [UInt8]
  /// The base up to the last slash of its path.
  private let directory: [UInt8]
  /// The base without its fragment.
  private let document: [UInt8]

  /// Nil for a base with which it does not work.
  init?(base: String, resolve: URLResolver) {
    guard base.hasPrefix("http://") || base.hasPrefix("https://"),
      let sibling = resolve("x", base), let root = resolve("/x", base), let document = resolve("", base),
      sibling.hasSuffix("/x"), root.hasSuffix("/x")
    else { return nil }
    origin = Array(root.utf8.dropLast(2))
    directory = Array(sibling.utf8.dropLast())
    self.document = Array(document.utf8)
    guard directory.starts(with: origin) else { return nil }
  }

  /// Appends the absolute URL of a reference; false, and nothing is appended, where the URL parser must be asked.
  func append(_ reference: UnsafeRawBufferPointer, withFragment: Bool, to url: inout [UInt8]) -> Bool {
    guard let end = Self.endOfPlainPart(reference) else { return false }
    let fragment = end == reference.count ? nil : UnsafeRawBufferPointer(rebasing: reference[end...])
    if withFragment, let fragment, !fragment.allSatisfy(Self.isPlainInFragment) { return false }
    if end == 0 {
      url.append(contentsOf: document)
    } else {
      guard appendPath(UnsafeRawBufferPointer(rebasing: reference[..<end]), to: &url) else { return false }
    }
    if withFragment, let fragment { url.append(contentsOf: fragment) }
    return true
  }

  private func appendPath(_ reference: UnsafeRawBufferPointer, to url: inout [UInt8]) -> Bool {
    if reference[0] == UInt8(ascii: "/") {
      url.append(contentsOf: origin)
      url.append(contentsOf: reference)
      return true
    }
    var start = 0
    var length = directory.count
    while Self.beginsWithParent(reference, start) {
      guard let shorter = parent(of: length) else { return false }
      length = shorter
      start += 3
    }
    url.append(contentsOf: directory[..<length])
    url.append(contentsOf: reference[start...])
    return true
  }

  private static func beginsWithParent(_ reference: UnsafeRawBufferPointer, _ start: Int) -> Bool {
    start + 2 < reference.count && reference[start] == UInt8(ascii: ".") && reference[start + 1] == UInt8(ascii: ".")
      && reference[start + 2] == UInt8(ascii: "/")
  }

  /// The length of the directory above the one that is so long; nil at the top.
  private func parent(of length: Int) -> Int? {
    guard length > origin.count + 1 else { return nil }
    var end = length - 1
    while directory[end - 1] != UInt8(ascii: "/") { end -= 1 }
    return end > origin.count && end < length - 1 ? end : nil
  }

  /// Where a reference's fragment begins, or it ends, if all before that is plain; nil where it is not.
  private static func endOfPlainPart(_ reference: UnsafeRawBufferPointer) -> Int? {
    var index = 0
    while beginsWithParent(reference, index) { index += 3 }
    // No segment may be empty (but the first, of an absolute path) or begin with a dot.
    var isSegmentStart = true
    var isQuery = false
    let start = index
    while index < reference.count {
      let byte = reference[index]
      switch byte {
      case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
        isSegmentStart = false
      case UInt8(ascii: "."):
        if isSegmentStart, !isQuery { return nil }
      case UInt8(ascii: "/"):
        if isSegmentStart, !isQuery, index > 0 { return nil }
        isSegmentStart = true
      case UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "+"), UInt8(ascii: ","):
        if !isQuery { return nil }
      case UInt8(ascii: "?"):
        let next = index + 1
        if isQuery || index == start || next == reference.count || reference[next] == UInt8(ascii: "#") { return nil }
        isQuery = true
      case UInt8(ascii: "#"): return index
      default: return nil
      }
      index += 1
    }
    return index
  }

  /// What needs no percent-encoding in a fragment.
  static func isPlainInFragment(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, UInt8(ascii: "#"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "="),
      UInt8(ascii: "&"), UInt8(ascii: "!"), UInt8(ascii: "+"), UInt8(ascii: "("), UInt8(ascii: ")"):
      true
    default: false
    }
  }
}
