import CXML
import Glibc

/// The links of a text, without a tree: a crawler that wants nothing else spares more than half of the work.
enum HTMLLinkScanner {
  struct Result {
    var links: [HTMLLink] = []
    /// The `href` of the first `<base>` that has one.
    var base: String?
  }

  /// What the callbacks share. Reached by a plain pointer, since they come a hundred thousand times a page.
  private struct State {
    var result = Result()
    let wantsText: Bool
    /// Index of the link whose element is open and whose text is gathered.
    var open: Int?
    var text: [UInt8] = []
    var met = HTMLReferenceSet()

    mutating func finishLink() {
      guard let index = open else { return }
      open = nil
      result.links[index].text = text.withUnsafeBytes(HTMLLinkRules.collapsed)
    }
  }

  /// `<a href>` and `<area href>` in document order, with what they say. Without text, of those that differ only in the
  /// fragment the first.
  /// - Throws: `XMLFailure`, only for what is too large.
  static func scan(
    _ bytes: UnsafeRawBufferPointer, encoding: String?, wantsText: Bool
  ) throws(XMLFailure) -> Result {
    XMLLibrary.prepare()
    guard bytes.count <= XMLLibrary.maximumSize else { throw .tooLarge }
    guard let context = htmlNewParserCtxt() else { throw .noMemory }
    defer { htmlFreeParserCtxt(context) }
    var (text, _) = HTMLDecoder.decode(bytes, label: encoding)
    prepare(context, wantsText: wantsText)
    var state = State(wantsText: wantsText)
    withUnsafeMutablePointer(to: &state) { pointer in
      context.pointee._private = UnsafeMutableRawPointer(pointer)
      let tree = HTMLDecoder.withInput(&text) { HTMLParser.read(context, $0) }
      if let tree { xmlFreeDoc(tree) }
    }
    state.finishLink()
    return state.result
  }

  private static func prepare(_ context: htmlParserCtxtPtr, wantsText: Bool) {
    guard let handler = context.pointee.sax else { return }
    memset(handler, 0, MemoryLayout<xmlSAXHandler>.size)
    handler.pointee.startElement = { context, name, attributes in
      guard let context, let name else { return }
      let parser = context.assumingMemoryBound(to: xmlParserCtxt.self)
      _ = HTMLParser.limitDepth(parser)
      HTMLLinkScanner.startElement(parser, name, attributes)
    }
    guard wantsText else { return }
    handler.pointee.endElement = { context, name in
      guard let context, let name, name[0] == UInt8(ascii: "a"), name[1] == 0 else { return }
      HTMLLinkScanner.state(context.assumingMemoryBound(to: xmlParserCtxt.self))?.pointee.finishLink()
    }
    handler.pointee.characters = { context, text, count in
      guard let context, let text else { return }
      guard let state = HTMLLinkScanner.state(context.assumingMemoryBound(to: xmlParserCtxt.self)) else { return }
      guard state.pointee.open != nil else { return }
      state.pointee.text.append(contentsOf: UnsafeBufferPointer(start: text, count: Int(count)))
    }
    handler.pointee.ignorableWhitespace = handler.pointee.characters
    handler.pointee.cdataBlock = handler.pointee.characters
  }

  @inline(__always)
  private static func state(_ parser: xmlParserCtxtPtr) -> UnsafeMutablePointer<State>? {
    parser.pointee._private?.assumingMemoryBound(to: State.self)
  }

  private static func startElement(
    _ parser: xmlParserCtxtPtr, _ name: UnsafePointer<xmlChar>, _ attributes: HTMLParser.Attributes?
  ) {
    guard name[0] == UInt8(ascii: "a") || name[0] == UInt8(ascii: "b"), let state = state(parser) else { return }
    if XMLTree.matches(name, "a") {
      state.pointee.finishLink()
      guard let attributes, isWanted(attributes, state), let link = link("a", attributes) else { return }
      if state.pointee.wantsText { state.pointee.open = state.pointee.result.links.count }
      state.pointee.result.links.append(link)
      state.pointee.text.removeAll(keepingCapacity: true)
    } else if XMLTree.matches(name, "area"), let attributes, isWanted(attributes, state),
      let link = link("area", attributes)
    {
      state.pointee.result.links.append(link)
    } else if XMLTree.matches(name, "base"), state.pointee.result.base == nil, let attributes {
      state.pointee.result.base = link("base", attributes)?.reference
    }
  }

  private static func isWanted(
    _ attributes: HTMLParser.Attributes, _ state: UnsafeMutablePointer<State>
  ) -> Bool {
    if state.pointee.wantsText { return true }
    var index = 0
    while let name = attributes[index] {
      if XMLTree.matches(name, "href") {
        guard let value = attributes[index + 1] else { return true }
        let start = UnsafeRawPointer(value).assumingMemoryBound(to: CChar.self)
        return state.pointee.met.insert(UnsafeRawBufferPointer(start: value, count: strcspn(start, "#")))
      }
      index += 2
    }
    return false
  }

  private static func link(_ tag: StaticString, _ attributes: HTMLParser.Attributes) -> HTMLLink? {
    var link = HTMLLink(tag: tag, attribute: "href", reference: "")
    var found = false
    var index = 0
    while let name = attributes[index] {
      if XMLTree.matches(name, "href") {
        link.reference = XMLLibrary.string(attributes[index + 1]) ?? ""
        found = true
      } else if XMLTree.matches(name, "rel") {
        link.rel = XMLLibrary.string(attributes[index + 1]) ?? ""
      }
      index += 2
    }
    return found ? link : nil
  }
}
