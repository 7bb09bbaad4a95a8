import CXML

/// A node as Lua holds it: a place in a tree, and the tree kept alive.
final class XMLNodeHandle {
  let document: XMLDocument
  let pointer: xmlNodePtr

  init(_ pointer: xmlNodePtr, in document: XMLDocument) {
    self.pointer = pointer
    self.document = document
  }

  /// The DOM's name for the kind of node.
  var kind: String {
    switch pointer.pointee.type {
    case XML_ELEMENT_NODE: "element"
    case XML_ATTRIBUTE_NODE: "attribute"
    case XML_TEXT_NODE: "text"
    case XML_CDATA_SECTION_NODE: "cdata"
    case XML_COMMENT_NODE: "comment"
    case XML_PI_NODE: "processing_instruction"
    case XML_DTD_NODE: "doctype"
    default: "other"
    }
  }

  /// Elements and attributes have one; the others do not.
  var isNamed: Bool { pointer.pointee.type == XML_ELEMENT_NODE || pointer.pointee.type == XML_ATTRIBUTE_NODE }

  var namespace: xmlNsPtr? { isNamed ? pointer.pointee.ns : nil }

  /// The element that holds the node; nil for the root.
  var parent: xmlNodePtr? {
    guard let parent = pointer.pointee.parent, XMLTree.isElement(parent) else { return nil }
    return parent
  }

  /// The elements directly below.
  var children: [xmlNodePtr] {
    guard XMLTree.isElement(pointer) else { return [] }
    var found: [xmlNodePtr] = []
    var current = pointer.pointee.children
    while let child = current {
      if XMLTree.isElement(child) { found.append(child) }
      current = child.pointee.next
    }
    return found
  }

  /// The attributes in the order of the text.
  var attributes: [xmlAttrPtr] {
    guard XMLTree.isElement(pointer) else { return [] }
    var found: [xmlAttrPtr] = []
    var current = pointer.pointee.properties
    while let attribute = current {
      found.append(attribute)
      current = attribute.pointee.next
    }
    return found
  }

  /// An attribute by its name, with its prefix where it has one. In HTML case does not count.
  func attribute(_ name: UnsafeRawBufferPointer) -> xmlAttrPtr? {
    guard XMLTree.isElement(pointer) else { return nil }
    let html = document.flavour == .html
    var current = pointer.pointee.properties
    while let attribute = current {
      if XMLNodeHandle.name(of: XMLTree.asNode(attribute), equals: name, foldingCase: html) { return attribute }
      current = attribute.pointee.next
    }
    return nil
  }

  private static func name(of node: xmlNodePtr, equals name: UnsafeRawBufferPointer, foldingCase: Bool) -> Bool {
    var rest = name[...]
    if let prefix = node.pointee.ns?.pointee.prefix {
      let own = XMLLibrary.bytes(prefix)
      guard rest.count > own.count, rest.starts(with: own), rest[own.count] == UInt8(ascii: ":") else { return false }
      rest = rest.dropFirst(own.count + 1)
    }
    let own = XMLLibrary.bytes(node.pointee.name)
    guard own.count == rest.count else { return false }
    return foldingCase ? zip(own, rest).allSatisfy { $0 == lowered($1) } : rest.elementsEqual(own)
  }

  private static func lowered(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

  /// The name as it is written, prefix included.
  static func qualifiedName(_ node: xmlNodePtr) -> String {
    let name = XMLLibrary.string(node.pointee.name) ?? ""
    guard let prefix = XMLLibrary.string(node.pointee.ns?.pointee.prefix) else { return name }
    return "\(prefix):\(name)"
  }
}
