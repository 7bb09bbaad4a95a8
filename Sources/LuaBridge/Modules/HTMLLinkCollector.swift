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
    let text = XMLTree.withText(node, HTMLLinkRules.collapsed)
    let rel = XMLTree.value(node, "rel")
    for reference in source.isSet ? HTMLLinkRules.candidates(value) : [value] {
      links.append(
        HTMLLink(
          tag: source.tag, attribute: source.attribute, reference: reference, text: text, rel: rel, node: node))
    }
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
