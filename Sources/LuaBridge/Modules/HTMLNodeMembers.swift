import CXML

/// The members of a node that need the tree; `css` and `xpath` are added in Lua.
extension HTMLModule {
  private static func property(
    _ name: String, _ body: @escaping (HostCall, XMLNodeHandle) -> Void
  ) -> NativeModule.Function {
    NativeModule.Function(name) { call in
      guard let node = call.object(1, HTMLModule.node) else { return call.wrongType(1, "node") }
      body(call, node)
      return .returned
    }
  }

  static var nodeMethods: [NativeModule.Function] {
    [
      NativeModule.Function("attr") { call in
        guard let node = call.object(1, HTMLModule.node) else { return call.wrongType(1, "node") }
        guard let name = call.bytes(2) else { return call.wrongType(2, "string") }
        guard let attribute = node.attribute(name) else {
          call.results.appendNil()
          return .returned
        }
        call.appendText(XMLTree.asNode(attribute))
        return .returned
      },
      NativeModule.Function("__eq") { call in
        let left = call.object(1, HTMLModule.node)
        let right = call.object(2, HTMLModule.node)
        call.results.append(left != nil && left?.pointer == right?.pointer)
        return .returned
      },
      property("__tostring") { call, node in call.results.append(node.summary) },
    ]
  }

  static var nodeProperties: [NativeModule.Function] {
    nameProperties + [
      property("text") { call, node in call.appendText(node.pointer) },
      property("type") { call, node in call.results.append(node.kind) },
      property("attributes") { call, node in
        let attributes = node.attributes.map(XMLTree.asNode)
        call.results.beginRecord(attributes.count)
        for attribute in attributes {
          call.results.append(XMLNodeHandle.qualifiedName(attribute))
          call.appendText(attribute)
        }
      },
      property("parent") { call, node in call.append(node.parent, of: node.document) },
      property("children") { call, node in call.append(node.children, of: node.document) },
      property("document") { call, node in call.results.append(node.document, HTMLModule.document) },
      property("document_type") { call, node in
        call.results.append(node.document.flavour == .html ? "html" : "xml")
      },
      property("line") { call, node in call.results.append(Int(xmlGetLineNo(node.pointer))) },
      property("html") { call, node in call.append(node.outerText) },
      property("inner_html") { call, node in call.append(node.innerText) },
      property("xml") { call, node in call.append(node.outerText) },
      property("inner_xml") { call, node in call.append(node.innerText) },
    ]
  }

  private static var nameProperties: [NativeModule.Function] {
    [
      property("name") { call, node in
        if node.namespace?.pointee.prefix != nil {
          call.results.append(XMLNodeHandle.qualifiedName(node.pointer))
        } else {
          call.append(node.isNamed ? node.pointer.pointee.name : nil)
        }
      },
      property("local_name") { call, node in call.append(node.isNamed ? node.pointer.pointee.name : nil) },
      property("prefix") { call, node in call.append(node.namespace?.pointee.prefix) },
      property("namespace") { call, node in call.append(node.namespace?.pointee.href) },
    ]
  }
}

extension XMLNodeHandle {
  /// The node as text in its document's own syntax.
  var outerText: [UInt8] {
    guard document.flavour == .html else { return XMLSerializer.outer(pointer, in: document) }
    var serializer = HTMLSerializer()
    serializer.outer(pointer)
    return serializer.bytes
  }

  /// The same for what is below the node.
  var innerText: [UInt8] {
    guard document.flavour == .html else { return XMLSerializer.inner(pointer, in: document) }
    var serializer = HTMLSerializer()
    serializer.inner(pointer)
    return serializer.bytes
  }

  /// A short line for people: an element's start tag, or the kind and the beginning of the text.
  var summary: String {
    var line: String
    if XMLTree.isElement(pointer) {
      var serializer = HTMLSerializer()
      serializer.startTag(pointer)
      line = String(decoding: serializer.bytes, as: UTF8.self)
    } else {
      line = "\(kind): \(XMLTree.withText(pointer, HTMLLinkRules.collapsed))"
    }
    if line.count > 80 { line = "\(line.prefix(77))..." }
    return line
  }
}
