import CXML
import Glibc

/// The links of a text, without a tree: whoever wants nothing else spares more than half of the work.
enum HTMLLinkScanner {
  /// What is looked for.
  enum Purpose {
    /// `<a href>` and `<area href>` in document order, with what they say.
    case links
    /// Their references only; of those that differ only in the fragment the first.
    case addresses
    /// The same, and those of `<frame>`, `<iframe>` and `<link>` that lead to further pages.
    case pages
  }

  /// What the callbacks share. Reached by a plain pointer, since they come a hundred thousand times a page.
  private struct State {
    var found = HTMLFoundLinks()
    let purpose: Purpose
    /// The newest link's element is open, and its text is gathered.
    var isOpen = false
    var text: [UInt8] = []
    var met = HTMLReferenceSet()

    mutating func finishLink() {
      guard isOpen else { return }
      isOpen = false
      text.withUnsafeBytes { found.setText($0) }
    }
  }

  private typealias StatePointer = UnsafeMutablePointer<State>

  /// - Parameter skipsText: whether the parser is moved past text that nobody wants; false only in tests.
  /// - Throws: `XMLFailure`, only for what is too large.
  static func scan(
    _ bytes: UnsafeRawBufferPointer, encoding: String?, for purpose: Purpose, skipsText: Bool = true
  ) throws(XMLFailure) -> HTMLFoundLinks {
    XMLLibrary.prepare()
    guard bytes.count <= XMLLibrary.maximumSize else { throw .tooLarge }
    guard let context = htmlNewParserCtxt() else { throw .noMemory }
    defer { htmlFreeParserCtxt(context) }
    var (text, _) = HTMLDecoder.decode(bytes, label: encoding)
    prepare(context, wantsText: purpose == .links, skipsText: skipsText)
    var state = State(purpose: purpose)
    withUnsafeMutablePointer(to: &state) { pointer in
      context.pointee._private = UnsafeMutableRawPointer(pointer)
      let tree = HTMLDecoder.withInput(&text) { HTMLParser.read(context, $0) }
      if let tree { xmlFreeDoc(tree) }
    }
    state.finishLink()
    return state.found
  }

  private static func prepare(_ context: htmlParserCtxtPtr, wantsText: Bool, skipsText: Bool) {
    guard let handler = context.pointee.sax else { return }
    memset(handler, 0, MemoryLayout<xmlSAXHandler>.size)
    handler.pointee.startElement = skipsText ? startAndSkip : start
    handler.pointee.endElement = skipsText ? endAndSkip : end
    guard wantsText else { return }
    handler.pointee.characters = { context, text, count in
      guard let context, let text else { return }
      guard let state = HTMLLinkScanner.state(context.assumingMemoryBound(to: xmlParserCtxt.self)) else { return }
      guard state.pointee.isOpen else { return }
      state.pointee.text.append(contentsOf: UnsafeBufferPointer(start: text, count: Int(count)))
    }
    handler.pointee.ignorableWhitespace = handler.pointee.characters
    handler.pointee.cdataBlock = handler.pointee.characters
  }

  private static let start: startElementSAXFunc = { context, name, attributes in
    guard let context, let name else { return }
    startElement(context.assumingMemoryBound(to: xmlParserCtxt.self), name, attributes)
  }

  private static let startAndSkip: startElementSAXFunc = { context, name, attributes in
    guard let context, let name else { return }
    let parser = context.assumingMemoryBound(to: xmlParserCtxt.self)
    startElement(parser, name, attributes)
    if state(parser)?.pointee.isOpen == false { HTMLTextSkip.skip(afterStartOf: name, parser) }
  }

  private static let end: endElementSAXFunc = { context, name in
    guard let context, let name else { return }
    endElement(context.assumingMemoryBound(to: xmlParserCtxt.self), name)
  }

  private static let endAndSkip: endElementSAXFunc = { context, name in
    guard let context, let name else { return }
    let parser = context.assumingMemoryBound(to: xmlParserCtxt.self)
    endElement(parser, name)
    if state(parser)?.pointee.isOpen == false { HTMLTextSkip.skip(afterEndOf: name, parser) }
  }

  @inline(__always)
  private static func state(_ parser: xmlParserCtxtPtr) -> StatePointer? {
    parser.pointee._private?.assumingMemoryBound(to: State.self)
  }

  @inline(__always)
  private static func endElement(_ parser: xmlParserCtxtPtr, _ name: UnsafePointer<xmlChar>) {
    if name[0] == UInt8(ascii: "a"), name[1] == 0 { state(parser)?.pointee.finishLink() }
  }

  @inline(__always)
  private static func startElement(
    _ parser: xmlParserCtxtPtr, _ name: UnsafePointer<xmlChar>, _ attributes: HTMLParser.Attributes?
  ) {
    _ = HTMLParser.limitDepth(parser)
    guard let state = state(parser) else { return }
    switch name[0] {
    case UInt8(ascii: "a"):
      if name[1] == 0 {
        state.pointee.finishLink()
        guard let attributes, add("href", attributes, state), state.pointee.purpose == .links else { return }
        state.pointee.isOpen = true
        state.pointee.text.removeAll(keepingCapacity: true)
      } else if XMLTree.matches(name, "area"), let attributes {
        _ = add("href", attributes, state)
      }
    case UInt8(ascii: "b"):
      guard state.pointee.found.base == nil, XMLTree.matches(name, "base"), let attributes else { return }
      state.pointee.found.base = value("href", attributes).map { XMLLibrary.string($0) ?? "" }
    case UInt8(ascii: "f"), UInt8(ascii: "i"), UInt8(ascii: "l"):
      if state.pointee.purpose == .pages, let attributes { addPage(name, attributes, state) }
    default: break
    }
  }

  private static func addPage(
    _ name: UnsafePointer<xmlChar>, _ attributes: HTMLParser.Attributes, _ state: StatePointer
  ) {
    if XMLTree.matches(name, "frame") || XMLTree.matches(name, "iframe") {
      _ = add("src", attributes, state)
    } else if XMLTree.matches(name, "link"), let rel = value("rel", attributes),
      HTMLLinkRules.leadsToPage(rel: XMLLibrary.string(rel) ?? "")
    {
      _ = add("href", attributes, state)
    }
  }

  /// An attribute's value, which may be absent as well; nil where there is no such attribute.
  @inline(__always)
  private static func value(
    _ wanted: StaticString, _ attributes: HTMLParser.Attributes
  ) -> UnsafePointer<xmlChar>?? {
    var index = 0
    while let name = attributes[index] {
      if XMLTree.matches(name, wanted) { return .some(attributes[index + 1]) }
      index += 2
    }
    return nil
  }

  /// Adds the reference in an attribute. False when there is none, or none that is wanted.
  private static func add(
    _ attribute: StaticString, _ attributes: HTMLParser.Attributes, _ state: StatePointer
  ) -> Bool {
    guard let value = value(attribute, attributes) else { return false }
    let reference = XMLLibrary.bytes(value)
    guard state.pointee.purpose != .links else {
      let rel = self.value("rel", attributes)
      state.pointee.found.add(reference: reference, rel: rel.map { $0 ?? empty })
      return true
    }
    var count = reference.count
    if let start = reference.baseAddress, let hash = memchr(start, Int32(UInt8(ascii: "#")), count) {
      count = UnsafeRawPointer(hash) - start
    }
    let document = UnsafeRawBufferPointer(rebasing: reference[..<count])
    guard state.pointee.met.insert(document) else { return false }
    state.pointee.found.add(reference: document, rel: nil)
    return true
  }

  /// What an attribute without a value has.
  private nonisolated(unsafe) static let empty: UnsafePointer<xmlChar> = {
    let text: StaticString = ""
    return text.utf8Start
  }()
}
