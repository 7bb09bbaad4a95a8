import CXML

/// XML text from a tree, by libxml2's writer, in UTF-8 and without added white space.
enum XMLSerializer {
  /// The node with the namespaces that it uses declared on it, so that the text stands for itself.
  static func outer(_ node: xmlNodePtr, in document: XMLDocument) -> [UInt8] {
    guard XMLTree.isElement(node), let copy = xmlDocCopyNode(node, document.pointer, 1) else {
      return written { xmlNodeDumpOutput($0, document.pointer, node, 0, 0, "UTF-8") }
    }
    defer { xmlFreeNode(copy) }
    return written { xmlNodeDumpOutput($0, document.pointer, copy, 0, 0, "UTF-8") }
  }

  /// What is below the node.
  static func inner(_ node: xmlNodePtr, in document: XMLDocument) -> [UInt8] {
    written { output in
      var current = node.pointee.children
      while let child = current {
        xmlNodeDumpOutput(output, document.pointer, child, 0, 0, "UTF-8")
        current = child.pointee.next
      }
    }
  }

  /// The whole document with its declaration.
  static func whole(_ document: XMLDocument) -> [UInt8] {
    var text: UnsafeMutablePointer<xmlChar>?
    var count: Int32 = 0
    xmlDocDumpMemoryEnc(document.pointer, &text, &count, "UTF-8")
    defer { cxml_free(text) }
    return Array(UnsafeRawBufferPointer(start: text, count: Int(count)))
  }

  private static func written(_ write: (xmlOutputBufferPtr) -> Void) -> [UInt8] {
    guard let output = xmlAllocOutputBuffer(nil) else { return [] }
    defer { xmlOutputBufferClose(output) }
    write(output)
    let count = xmlOutputBufferGetSize(output)
    return Array(UnsafeRawBufferPointer(start: xmlOutputBufferGetContent(output), count: count))
  }
}
