import CXML

/// The tolerant parser: whatever the bytes, there is a document.
///
/// The tree is built here and not by libxml2's own handler, which copies every name, takes prefixes off names that
/// have none in HTML, and would stop at a depth of 256.
enum HTMLParser {
  /// How deep elements nest before they become siblings instead, as in browsers (Blink has the same number). It bounds
  /// what a stray end tag can cost, and with it a hostile page.
  static let maximumDepth: Int32 = 512
  /// Elements and attributes of one document; libxml2 takes some 120 bytes for each.
  static let maximumNodes = 8_000_000

  static let options =
    HTML_PARSE_RECOVER.rawValue | HTML_PARSE_NOERROR.rawValue | HTML_PARSE_NOWARNING.rawValue
    | HTML_PARSE_NONET.rawValue | HTML_PARSE_COMPACT.rawValue | HTML_PARSE_IGNORE_ENC.rawValue
    | HTML_PARSE_NODEFDTD.rawValue

  /// - Throws: `XMLFailure`, only for what is too large.
  static func parse(_ bytes: UnsafeRawBufferPointer, url: String?, encoding: String?) throws(XMLFailure) -> XMLDocument
  {
    XMLLibrary.prepare()
    guard bytes.count <= XMLLibrary.maximumSize else { throw .tooLarge }
    guard let context = htmlNewParserCtxt() else { throw .noMemory }
    defer { htmlFreeParserCtxt(context) }
    var (text, found) = HTMLDecoder.decode(bytes, label: encoding)
    var nodes = 0
    prepare(context)
    let parsed = withUnsafeMutablePointer(to: &nodes) { counter in
      context.pointee._private = UnsafeMutableRawPointer(counter)
      return HTMLDecoder.withInput(&text) { read(context, $0) }
    }
    guard let document = parsed ?? htmlNewDocNoDtD(nil, nil) else { throw .noMemory }
    guard nodes <= maximumNodes else {
      xmlFreeDoc(document)
      throw XMLFailure(code: "too_large", message: "the document has more than \(maximumNodes) elements")
    }
    return XMLDocument(document, flavour: .html, url: url, encoding: found.name, weight: bytes.count * 6)
  }

  /// Parses text that is known to be UTF-8. libxml2's own entry points would look for an encoding in it, or, told of
  /// UTF-8, convert it to itself piece by piece.
  static func read(_ context: htmlParserCtxtPtr, _ text: UnsafeRawBufferPointer) -> htmlDocPtr? {
    guard text.count > 0 else { return nil }
    htmlCtxtUseOptions(context, Int32(bitPattern: options))
    context.pointee.charset = Int32(XML_CHAR_ENCODING_UTF8.rawValue)
    let start = text.baseAddress?.assumingMemoryBound(to: CChar.self)
    guard let buffer = xmlParserInputBufferCreateMem(start, Int32(clamping: text.count), XML_CHAR_ENCODING_NONE),
      let input = xmlNewIOInputStream(context, buffer, XML_CHAR_ENCODING_NONE)
    else { return nil }
    guard inputPush(context, input) >= 0 else { return nil }
    htmlParseDocument(context)
    defer { context.pointee.myDoc = nil }
    return context.pointee.myDoc
  }

  private static func prepare(_ context: htmlParserCtxtPtr) {
    // Without it libxml2 drops what follows ten million bytes of one text.
    context.pointee.options |= Int32(XML_PARSE_HUGE.rawValue)
    context.pointee.sax.pointee.startDocument = { context in
      guard let context else { return }
      xmlSAX2StartDocument(context)
      HTMLParser.shareNames(context.assumingMemoryBound(to: xmlParserCtxt.self))
    }
    context.pointee.sax.pointee.startElement = { context, name, attributes in
      guard let context, let name else { return }
      HTMLParser.startElement(context.assumingMemoryBound(to: xmlParserCtxt.self), name, attributes)
    }
  }

  /// The names of elements and attributes stay in the parser's dictionary, which the document keeps.
  private static func shareNames(_ context: xmlParserCtxtPtr) {
    guard let document = context.pointee.myDoc, document.pointee.dict == nil else { return }
    document.pointee.dict = context.pointee.dict
    xmlDictReference(context.pointee.dict)
    context.pointee.dictNames = 1
  }

  /// Closes the innermost open element in favour of the one that begins, on both of the parser's stacks, when elements
  /// are nested too deep. True when it did.
  @inline(__always)
  static func limitDepth(_ context: xmlParserCtxtPtr) -> Bool {
    let count = Int(context.pointee.nameNr)
    guard context.pointee.nameNr > maximumDepth else { return false }
    context.pointee.nameTab[count - 2] = context.pointee.nameTab[count - 1]
    context.pointee.nameNr -= 1
    return true
  }

  /// Names and values in turn, then a null.
  typealias Attributes = UnsafeMutablePointer<UnsafePointer<xmlChar>?>

  private static func startElement(
    _ context: xmlParserCtxtPtr, _ name: UnsafePointer<xmlChar>, _ attributes: Attributes?
  ) {
    guard let document = context.pointee.myDoc else { return }
    if limitDepth(context) { nodePop(context) }
    // Implied elements (html, head, body, p) come with names that are not the dictionary's.
    guard count(1, context), let name = xmlDictLookup(context.pointee.dict, name, -1) else { return }
    guard let element = xmlNewDocNodeEatName(document, nil, UnsafeMutablePointer(mutating: name), nil) else { return }
    context.pointee.nodemem = -1
    element.pointee.line = UInt16(clamping: context.pointee.input.pointee.line)
    let parent = context.pointee.node ?? xmlDocGetRootElement(document)
    guard nodePush(context, element) >= 0 else { return xmlFreeNode(element) }
    xmlAddChild(parent ?? XMLTree.asNode(document), element)
    if let attributes { addAttributes(attributes, to: element, context) }
  }

  private static func addAttributes(_ attributes: Attributes, to element: xmlNodePtr, _ context: xmlParserCtxtPtr) {
    var index = 0
    while let name = attributes[index], count(1, context) {
      xmlNewNsPropEatName(element, nil, UnsafeMutablePointer(mutating: name), attributes[index + 1])
      index += 2
    }
  }

  /// Counts nodes; stops the parser beyond the limit.
  @inline(__always)
  private static func count(_ added: Int, _ context: xmlParserCtxtPtr) -> Bool {
    guard let counter = context.pointee._private?.assumingMemoryBound(to: Int.self) else { return false }
    counter.pointee += added
    guard counter.pointee > maximumNodes else { return true }
    xmlStopParser(context)
    return false
  }
}
