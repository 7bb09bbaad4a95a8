import CXML

/// Appending what this module deals in.
extension HostCall {
  /// `nil, code, message, line, column`
  func fail(_ failure: XMLFailure) {
    results.appendNil()
    results.append(failure.code)
    results.append(failure.message)
    for place in [failure.line, failure.column] {
      if let place { results.append(place) } else { results.appendNil() }
    }
  }

  func append(_ node: xmlNodePtr?, of document: XMLDocument) {
    guard let node else { return results.appendNil() }
    if node == document.node { return results.append(document, HTMLModule.document) }
    results.append(XMLNodeHandle(node, in: document), HTMLModule.node)
  }

  func append(_ nodes: [xmlNodePtr], of document: XMLDocument) {
    results.beginList(nodes.count)
    for node in nodes { append(node, of: document) }
  }

  func append(_ value: XPathValue, of document: XMLDocument, onlyFirst: Bool) {
    switch value {
    case .nodes(let nodes) where onlyFirst: append(nodes.first, of: document)
    case .nodes(let nodes): append(nodes, of: document)
    case .text(let text): results.append(text)
    case .number(let number): results.append(number)
    case .boolean(let boolean): results.append(boolean)
    }
  }

  /// A list of records, without the links that are no URL. `isWhole`: say where each was found.
  func append(_ links: [HTMLLink], of document: XMLDocument?, _ resolver: HTMLLinkResolver, isWhole: Bool) {
    var resolver = resolver
    let urls = links.map { resolver.absolute($0.reference) }
    results.beginList(urls.count { $0 != nil })
    for index in links.indices {
      guard let url = urls[index] else { continue }
      let link = links[index]
      let node = document == nil ? nil : link.node
      results.beginRecord(2 + (link.rel == nil ? 0 : 1) + (node == nil ? 0 : 1) + (isWhole ? 2 : 0))
      append("url", url)
      append("text", link.text)
      if let rel = link.rel { append("rel", rel) }
      if isWhole {
        append("tag", "\(link.tag)")
        append("attribute", "\(link.attribute)")
      }
      guard let node, let document else { continue }
      results.append("node")
      append(node, of: document)
    }
  }

  private func append(_ key: String, _ value: String) {
    results.append(key)
    results.append(value)
  }

  func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { results.append(copying: $0) } }

  /// A node's text, copied straight out of the tree.
  func appendText(_ node: xmlNodePtr) { XMLTree.withText(node) { results.append(copying: $0) } }

  func append(_ text: UnsafePointer<xmlChar>?) {
    guard let text else { return results.appendNil() }
    results.append(copying: XMLLibrary.bytes(text))
  }
}
