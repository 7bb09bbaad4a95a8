import CXML

/// The members of a document that need the tree; `css`, `xpath` and `links` are added in Lua.
extension HTMLModule {
  private static func property(
    _ name: String, _ body: @escaping (HostCall, XMLDocument) -> Void
  ) -> NativeModule.Function {
    NativeModule.Function(name) { call in
      guard let document = call.object(1, HTMLModule.document) else { return call.wrongType(1, "document") }
      body(call, document)
      return .returned
    }
  }

  static var documentMethods: [NativeModule.Function] {
    [
      NativeModule.Function("__eq") { call in
        let left = call.object(1, HTMLModule.document)
        call.results.append(left != nil && left === call.object(2, HTMLModule.document))
        return .returned
      },
      property("__tostring") { call, document in
        let kind = document.flavour == .html ? "html" : "xml"
        call.results.append(document.url.map { "\(kind) document \($0)" } ?? "\(kind) document")
      },
    ]
  }

  var documentProperties: [NativeModule.Function] {
    [
      HTMLModule.property("root") { call, document in call.append(document.root, of: document) },
      HTMLModule.property("title") { call, document in
        let title = document.firstElement("title")
        call.results.append(title.map { XMLTree.withText($0, HTMLLinkRules.collapsed) })
      },
      HTMLModule.property("url") { call, document in call.results.append(document.url) },
      HTMLModule.property("base") { call, document in call.results.append(resolver(document).base) },
      HTMLModule.property("encoding") { call, document in call.results.append(document.encoding) },
      HTMLModule.property("type") { call, document in
        call.results.append(document.flavour == .html ? "html" : "xml")
      },
      HTMLModule.property("text") { call, document in
        if let root = document.root { call.appendText(root) } else { call.results.append("") }
      },
      HTMLModule.property("html") { call, document in call.append(document.wholeText) },
      HTMLModule.property("xml") { call, document in call.append(document.wholeText) },
    ]
  }
}

extension XMLDocument {
  /// The document as text in its own syntax.
  var wholeText: [UInt8] {
    guard flavour == .html else { return XMLSerializer.whole(self) }
    var serializer = HTMLSerializer()
    serializer.inner(node)
    return serializer.bytes
  }
}
