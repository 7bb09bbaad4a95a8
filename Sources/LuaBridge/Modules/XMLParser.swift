import CXML

/// The strict parser: what is not well-formed, namespaces included, is an error with its place.
///
/// Entities that the document itself declares are replaced, within libxml2's limits on their growth; nothing outside
/// the text is ever read. Depth (256) and the size of one text (10 MB) have libxml2's limits.
enum XMLParser {
  static func parse(_ text: UnsafeRawBufferPointer, url: String?, encoding: String?) throws(XMLFailure) -> XMLDocument {
    XMLLibrary.prepare()
    guard text.count <= XMLLibrary.maximumSize else { throw .tooLarge }
    guard let context = xmlNewParserCtxt() else { throw .noMemory }
    defer { xmlFreeParserCtxt(context) }
    let log = XMLErrorLog(code: "bad_xml")
    context.pointee._private = log.context
    context.pointee.sax.pointee.serror = { context, error in
      guard let context, let error else { return }
      guard let log = context.assumingMemoryBound(to: xmlParserCtxt.self).pointee._private else { return }
      XMLErrorLog.at(log).note(error.pointee)
    }
    let options = XML_PARSE_NONET.rawValue | XML_PARSE_NOENT.rawValue | XML_PARSE_COMPACT.rawValue
    let parsed = withExtendedLifetime(log) { () -> xmlDocPtr? in
      let start = text.baseAddress?.assumingMemoryBound(to: CChar.self)
      return xmlCtxtReadMemory(context, start, Int32(text.count), url, encoding, Int32(options))
    }
    if let failure = log.first {
      if let parsed { xmlFreeDoc(parsed) }
      throw failure
    }
    guard let parsed else { throw XMLFailure(code: "bad_xml", message: "the document is empty", line: 1, column: 1) }
    return XMLDocument(
      parsed, flavour: .xml, url: url, encoding: encoding ?? XMLLibrary.string(parsed.pointee.encoding) ?? "UTF-8",
      weight: text.count * 6)
  }
}
