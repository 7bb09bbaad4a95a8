import CXML

/// HTML text from a tree, by the rules of the HTML standard ("serializing HTML fragments"): no change of attribute
/// values, no added line ends, no `<meta>`. libxml2's own writer does all three.
struct HTMLSerializer {
  private(set) var bytes: [UInt8] = []

  static let voidElements: Set<String> = [
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
    "meta", "param", "source", "track", "wbr",
  ]
  /// Their text is not escaped.
  private static let rawElements: Set<String> = [
    "style", "script", "xmp", "iframe", "noembed", "noframes", "plaintext",
  ]

  /// The node itself and what is below.
  mutating func outer(_ top: xmlNodePtr) {
    var current = top
    while true {
      if open(current), let child = current.pointee.children {
        current = child
        continue
      }
      close(current)
      while current != top, current.pointee.next == nil {
        guard let parent = current.pointee.parent else { return }
        current = parent
        close(current)
      }
      guard current != top, let sibling = current.pointee.next else { return }
      current = sibling
    }
  }

  /// What is below the node.
  mutating func inner(_ node: xmlNodePtr) {
    var current = node.pointee.children
    while let child = current {
      outer(child)
      current = child.pointee.next
    }
  }

  /// Writes what comes before the children; false when children are not to be written.
  private mutating func open(_ node: xmlNodePtr) -> Bool {
    switch node.pointee.type {
    case XML_ELEMENT_NODE:
      startTag(node)
      return !isVoid(node)
    case XML_TEXT_NODE, XML_CDATA_SECTION_NODE: text(node)
    case XML_COMMENT_NODE: add("<!--", XMLLibrary.bytes(node.pointee.content), "-->")
    case XML_PI_NODE:
      add("<?", XMLLibrary.bytes(node.pointee.name), " ")
      add("", XMLLibrary.bytes(node.pointee.content), ">")
    case XML_DTD_NODE: add("<!DOCTYPE ", XMLLibrary.bytes(node.pointee.name), ">")
    case XML_DOCUMENT_NODE, XML_HTML_DOCUMENT_NODE: return true
    default: break
    }
    return false
  }

  private mutating func close(_ node: xmlNodePtr) {
    guard XMLTree.isElement(node), !isVoid(node) else { return }
    add("</", XMLLibrary.bytes(node.pointee.name), ">")
  }

  /// The start tag alone.
  mutating func startTag(_ node: xmlNodePtr) {
    add("<", XMLLibrary.bytes(node.pointee.name), "")
    var current = node.pointee.properties
    while let attribute = current {
      add(" ", XMLLibrary.bytes(attribute.pointee.name), "=\"")
      XMLTree.withText(XMLTree.asNode(attribute)) { escape($0, quotes: true) }
      bytes.append(UInt8(ascii: "\""))
      current = attribute.pointee.next
    }
    bytes.append(UInt8(ascii: ">"))
  }

  private mutating func text(_ node: xmlNodePtr) {
    let content = XMLLibrary.bytes(node.pointee.content)
    guard let parent = node.pointee.parent, XMLTree.isElement(parent), isIn(HTMLSerializer.rawElements, parent) else {
      return escape(content, quotes: false)
    }
    bytes.append(contentsOf: content)
  }

  private func isVoid(_ node: xmlNodePtr) -> Bool { isIn(HTMLSerializer.voidElements, node) }

  private func isIn(_ names: Set<String>, _ node: xmlNodePtr) -> Bool {
    XMLLibrary.string(node.pointee.name).map(names.contains) ?? false
  }

  private mutating func add(_ before: StaticString, _ middle: UnsafeRawBufferPointer, _ after: StaticString) {
    before.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: middle)
    after.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  private mutating func escape(_ text: UnsafeRawBufferPointer, quotes: Bool) {
    var index = 0
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "&"): bytes.append(contentsOf: "&amp;".utf8)
      case UInt8(ascii: "<") where !quotes: bytes.append(contentsOf: "&lt;".utf8)
      case UInt8(ascii: ">") where !quotes: bytes.append(contentsOf: "&gt;".utf8)
      case UInt8(ascii: "\"") where quotes: bytes.append(contentsOf: "&quot;".utf8)
      case 0xC2 where index + 1 < text.count && text[index + 1] == 0xA0:
        bytes.append(contentsOf: "&nbsp;".utf8)
        index += 1
      default: bytes.append(text[index])
      }
      index += 1
    }
  }
}
