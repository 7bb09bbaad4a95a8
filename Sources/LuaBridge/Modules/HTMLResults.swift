import CXML

/// Appending what this module deals in.
extension HostCall {
  func fail(_ failure: XMLFailure) { results.append(failure) }

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

  /// A list of { url, text, rel }, without the links that are no URL.
  func append(_ found: HTMLFoundLinks, _ resolver: HTMLLinkResolver) {
    var resolver = resolver
    var urls: [UInt8] = []
    // Where the next link's URL ends; the same as the one before where there is none.
    let ends = found.links.map { link in
      _ = found.withPart(link.reference) { resolver.append($0, withFragment: true, to: &urls) }
      return urls.count
    }
    results.beginList(zip(ends, [0] + ends).count { $0 > $1 })
    urls.withUnsafeBytes { urls in
      var start = 0
      for (link, end) in zip(found.links, ends) where end > start {
        results.beginRecord(link.rel == nil ? 2 : 3)
        append("url", UnsafeRawBufferPointer(rebasing: urls[start..<end]))
        found.withPart(link.text) { append("text", $0) }
        if let rel = link.rel { found.withPart(rel) { append("rel", $0) } }
        start = end
      }
    }
  }

  private func append(_ key: StaticString, _ value: UnsafeRawBufferPointer) {
    results.append(copying: UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    results.append(copying: value)
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

extension Outbox {
  /// `nil, code, message, line, column`
  func append(_ failure: XMLFailure) {
    appendNil()
    append(failure.code)
    append(failure.message)
    for place in [failure.line, failure.column] {
      if let place { append(place) } else { appendNil() }
    }
  }
}
