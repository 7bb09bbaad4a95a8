import CXML

/// Walking libxml2's tree. Nothing here recurses: a document may be nested as deep as the parser let it.
enum XMLTree {
  static func isElement(_ node: xmlNodePtr) -> Bool { node.pointee.type == XML_ELEMENT_NODE }

  @inline(__always)
  static func isNamed(_ node: xmlNodePtr, _ name: StaticString) -> Bool {
    guard let own = node.pointee.name else { return false }
    return matches(own, name)
  }

  @inline(__always)
  static func matches(_ text: UnsafePointer<xmlChar>, _ expected: StaticString) -> Bool {
    var index = 0
    while index < expected.utf8CodeUnitCount {
      guard text[index] == expected.utf8Start[index] else { return false }
      index += 1
    }
    return text[index] == 0
  }

  /// Whether the children are content: an entity's node borrows the declaration's.
  private static func firstChild(_ node: xmlNodePtr) -> xmlNodePtr? {
    switch node.pointee.type {
    case XML_ELEMENT_NODE, XML_DOCUMENT_NODE, XML_HTML_DOCUMENT_NODE, XML_DOCUMENT_FRAG_NODE: node.pointee.children
    default: nil
    }
  }

  /// The node after `node` in document order within `top`'s subtree.
  static func next(after node: xmlNodePtr, in top: xmlNodePtr) -> xmlNodePtr? {
    if let child = firstChild(node) { return child }
    var current = node
    while current != top {
      if let sibling = current.pointee.next { return sibling }
      guard let parent = current.pointee.parent else { return nil }
      current = parent
    }
    return nil
  }

  /// The first element of the subtree, `top` included, that `matches`.
  static func firstElement(in top: xmlNodePtr, where matches: (xmlNodePtr) -> Bool) -> xmlNodePtr? {
    var current: xmlNodePtr? = top
    while let node = current {
      if isElement(node), matches(node) { return node }
      current = next(after: node, in: top)
    }
    return nil
  }

  static func attribute(_ node: xmlNodePtr, _ name: StaticString) -> xmlAttrPtr? {
    guard isElement(node) else { return nil }
    var current = node.pointee.properties
    while let attribute = current {
      if isNamed(asNode(attribute), name) { return attribute }
      current = attribute.pointee.next
    }
    return nil
  }

  static func asNode(_ attribute: xmlAttrPtr) -> xmlNodePtr {
    UnsafeMutableRawPointer(attribute).assumingMemoryBound(to: xmlNode.self)
  }

  static func asNode(_ document: xmlDocPtr) -> xmlNodePtr {
    UnsafeMutableRawPointer(document).assumingMemoryBound(to: xmlNode.self)
  }

  /// Hands over a node's text as the DOM's `textContent` has it, mostly without a copy.
  static func withText<Result>(_ node: xmlNodePtr, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    switch node.pointee.type {
    case XML_TEXT_NODE, XML_CDATA_SECTION_NODE, XML_COMMENT_NODE, XML_PI_NODE:
      return body(XMLLibrary.bytes(node.pointee.content))
    case XML_ELEMENT_NODE, XML_ATTRIBUTE_NODE:
      guard let child = node.pointee.children else { return body(XMLLibrary.bytes(nil)) }
      if child.pointee.next == nil, child.pointee.type == XML_TEXT_NODE {
        return body(XMLLibrary.bytes(child.pointee.content))
      }
    default: break
    }
    let text = xmlNodeGetContent(node)
    defer { cxml_free(text) }
    return body(XMLLibrary.bytes(text))
  }

  static func text(_ node: xmlNodePtr) -> String { withText(node) { String(decoding: $0, as: UTF8.self) } }

  /// An attribute's value as text.
  static func value(_ node: xmlNodePtr, _ name: StaticString) -> String? {
    attribute(node, name).map { text(asNode($0)) }
  }
}
