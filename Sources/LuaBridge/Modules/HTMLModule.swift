import CXML

/// `httpscript.html`: what `http.html` and `http.xml` stand on. Documents and nodes of both are the same two types.
///
/// Functions that can fail at run time answer `nil, code, message, line, column`; the Lua side makes error objects.
public struct HTMLModule {
  /// What `require` calls it.
  public static let name = "httpscript.html"

  static let document = HostType<XMLDocument>(.document)
  static let node = HostType<XMLNodeHandle>(.node)

  let resolve: URLResolver
  let expressions = XPathCache()

  /// - Parameter resolve: makes the references of a document absolute.
  public static func make(resolve: @escaping URLResolver) -> NativeModule {
    let module = HTMLModule(resolve: resolve)
    return NativeModule(
      name,
      functions: [
        NativeModule.Function("parse_html", parseHTML), NativeModule.Function("parse_xml", parseXML),
        NativeModule.Function("links", module.scanLinks), NativeModule.Function("link_urls", module.scanURLs),
        NativeModule.Function("document_links", module.documentLinks),
        NativeModule.Function("evaluate", module.evaluate),
      ],
      types: [
        NativeModule.ObjectType(
          "document", document, methods: documentMethods, properties: module.documentProperties),
        NativeModule.ObjectType("node", node, methods: nodeMethods, properties: nodeProperties),
      ])
  }

  private static func parseHTML(_ call: HostCall) -> Outcome {
    parse(call) { text, url, encoding throws(XMLFailure) in
      try HTMLParser.parse(text, url: url, encoding: encoding)
    }
  }

  private static func parseXML(_ call: HostCall) -> Outcome {
    parse(call) { text, url, encoding throws(XMLFailure) in
      try XMLParser.parse(text, url: url, encoding: encoding)
    }
  }

  /// (text, base | nil, encoding | nil) -> document
  private static func parse(
    _ call: HostCall, _ parser: (UnsafeRawBufferPointer, String?, String?) throws(XMLFailure) -> XMLDocument
  ) -> Outcome {
    guard let text = call.bytes(1) else { return call.wrongType(1, "string") }
    XMLMemory.makeRoom(call.interpreter)
    do {
      call.results.append(try parser(text, call.string(2), call.string(3)), document)
    } catch {
      call.fail(error)
    }
    return .returned
  }

  /// (text, base | nil, encoding | nil) -> list of { url, text, rel }
  private func scanLinks(_ call: HostCall) -> Outcome {
    guard let text = call.bytes(1) else { return call.wrongType(1, "string") }
    do {
      let found = try HTMLLinkScanner.scan(text, encoding: call.string(3), for: .links)
      call.append(found, HTMLLinkResolver(url: call.string(2), declared: found.base, resolve: resolve))
    } catch {
      call.fail(error)
    }
    return .returned
  }

  /// (text, base | nil, encoding | nil) -> list of URLs, without fragments, each once
  private func scanURLs(_ call: HostCall) -> Outcome {
    guard let text = call.bytes(1) else { return call.wrongType(1, "string") }
    do {
      let found = try HTMLLinkScanner.scan(text, encoding: call.string(3), for: .addresses)
      call.results.append(HTMLAddresses(found, url: call.string(2), resolve: resolve))
    } catch {
      call.fail(error)
    }
    return .returned
  }

  /// (document, all) -> list of { url, text, rel, node }, with `tag` and `attribute` where all is wanted
  private func documentLinks(_ call: HostCall) -> Outcome {
    guard let document = call.object(1, HTMLModule.document) else { return call.wrongType(1, "document") }
    let all = call.boolean(2)
    let links = HTMLLinkCollector.links(of: document, all: all)
    call.append(links, of: document, resolver(document), isWhole: all)
    return .returned
  }

  func resolver(_ document: XMLDocument) -> HTMLLinkResolver {
    HTMLLinkResolver(
      url: document.url, declared: HTMLLinkCollector.declaredBase(of: document), resolve: resolve)
  }

  /// (document or node, expression, whether it ends with [1] and that node is wanted, prefix, uri, …) -> list of nodes, node, text, number or boolean
  private func evaluate(_ call: HostCall) -> Outcome {
    let node = call.object(1, HTMLModule.node)
    guard let document = node?.document ?? call.object(1, HTMLModule.document) else {
      return call.wrongType(1, "document or node")
    }
    guard let expression = call.string(2) else { return call.wrongType(2, "string") }
    guard let evaluation = document.evaluation else { return call.raise("not enough memory") }
    do throws(XMLFailure) {
      let value = try evaluation.evaluate(
        expression, at: node?.pointer ?? document.node, namespaces: HTMLModule.namespaces(call),
        isSingle: call.boolean(3), cache: expressions)
      call.append(value, of: document, onlyFirst: call.boolean(3))
    } catch {
      call.fail(error)
    }
    return .returned
  }

  private static func namespaces(_ call: HostCall) -> [(prefix: String, uri: String)] {
    stride(from: 4, to: call.count, by: 2).compactMap { index in
      guard let prefix = call.string(index), let uri = call.string(index + 1) else { return nil }
      return (prefix, uri)
    }
  }
}
