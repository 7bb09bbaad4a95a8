import CXML

/// The links of a tree.
enum HTMLLinkCollector {
  /// In document order. `all`: also what the page loads (images, scripts, frames, style sheets).
  static func links(of document: XMLDocument, all: Bool) -> [HTMLLink] {
    guard let root = document.root else { return [] }
    let sources = HTMLLinkRules.sources.filter { all || $0.isHyperlink }
    var links: [HTMLLink] = []
    var current: xmlNodePtr? = root
    while let node = current {
      if XMLTree.isElement(node), node.pointee.properties != nil {
        for source in sources where XMLTree.isNamed(node, source.tag) { add(source, of: node, to: &links) }
      }
      current = XMLTree.next(after: node, in: root)
    }
    return links
  }

  private static func add(_ source: HTMLLinkRules.Source, of node: xmlNodePtr, to links: inout [HTMLLink]) {
    guard let value = XMLTree.value(node, source.attribute) else { return }
    let text = XMLTree.isNamed(node, "a") ? linkText(node) : ""
    let rel = XMLTree.value(node, "rel")
    for reference in source.isSet ? HTMLLinkRules.candidates(value) : [value] {
      links.append(
        HTMLLink(
          tag: source.tag, attribute: source.attribute, reference: reference, text: text, rel: rel, node: node))
    }
  }

  /// What a link says, up to a link in it: there is none in a page as the HTML standard reads it, and the texts of
  /// hundreds of nested ones would add up to many times the page.
  private static func linkText(_ node: xmlNodePtr) -> String {
    if let child = node.pointee.children, child.pointee.next == nil, child.pointee.type == XML_TEXT_NODE {
      return XMLTree.withText(child, HTMLLinkRules.collapsed)
    }
    var text: [UInt8] = []
    var current = XMLTree.next(after: node, in: node)
    while let inner = current, !XMLTree.isElement(inner) || !XMLTree.isNamed(inner, "a") {
      if inner.pointee.type == XML_TEXT_NODE || inner.pointee.type == XML_CDATA_SECTION_NODE {
        text.append(contentsOf: XMLLibrary.bytes(inner.pointee.content))
      }
      current = XMLTree.next(after: inner, in: node)
    }
    return text.withUnsafeBytes(HTMLLinkRules.collapsed)
  }

  /// The `href` of the first `<base>` that has one.
  static func declaredBase(of document: XMLDocument) -> String? {
    guard document.flavour == .html, let root = document.root else { return nil }
    let base = XMLTree.firstElement(in: root) {
      XMLTree.isNamed($0, "base") && XMLTree.attribute($0, "href") != nil
    }
    return base.flatMap { XMLTree.value($0, "href") }
  }
}
