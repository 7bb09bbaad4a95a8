import CXML

/// What an XPath expression gave.
enum XPathValue {
  case nodes([xmlNodePtr])
  case text(String)
  case number(Double)
  case boolean(Bool)
}

/// XPath on one document: libxml2's context, made once, with its errors caught.
final class XPathEvaluation {
  private let context: xmlXPathContextPtr
  private let log = XMLErrorLog(code: "bad_xpath")
  private var isNumbered = false
  /// Steps an expression may take: a hostile document can make a harmless one quadratic.
  private static let stepLimit: UInt = 200_000_000

  init?(_ document: xmlDocPtr) {
    guard let context = xmlXPathNewContext(document) else { return nil }
    self.context = context
    context.pointee.opLimit = XPathEvaluation.stepLimit
    context.pointee.userData = log.context
    context.pointee.error = { context, error in
      guard let context, let error else { return }
      XMLErrorLog.at(context).note(error.pointee, message: XPathEvaluation.message(error.pointee.code))
    }
  }

  /// Numbers the elements, without which putting results in document order walks sibling lists.
  private func numberElements() {
    isNumbered = true
    xmlXPathOrderDocElems(context.pointee.doc)
  }

  /// Before the document is freed.
  func close() { xmlXPathFreeContext(context) }

  /// Evaluates with `node` as the context node; `isSingle` says that the expression ends with `[1]`.
  /// - Throws: `XMLFailure` with code `bad_xpath`, or `too_complex` beyond the limit of steps.
  func evaluate(
    _ expression: String, at node: xmlNodePtr, namespaces: [(prefix: String, uri: String)], isSingle: Bool,
    cache: XPathCache
  ) throws(XMLFailure) -> XPathValue {
    log.clear()
    // One node alone is in order; a union ("|") puts all of its own in order first.
    if !isNumbered, !isSingle || expression.utf8.contains(UInt8(ascii: "|")) { numberElements() }
    guard let compiled = cache.compiled(expression, context) else { throw failure(expression) }
    for (prefix, uri) in namespaces { xmlXPathRegisterNs(context, prefix, uri) }
    defer { if !namespaces.isEmpty { xmlXPathRegisteredNsCleanup(context) } }
    context.pointee.node = node
    context.pointee.opCount = 0
    guard let result = xmlXPathCompiledEval(compiled, context) else { throw failure(expression) }
    defer { xmlXPathFreeObject(result) }
    return XPathEvaluation.value(result)
  }

  private func failure(_ expression: String) -> XMLFailure {
    var failure = log.first ?? XMLFailure(code: log.code, message: "the expression cannot be evaluated")
    let shown = expression.utf8.count > 80 ? "\(expression.prefix(77))..." : expression
    if context.pointee.opCount >= XPathEvaluation.stepLimit { failure.code = "too_complex" }
    let place = failure.position.map { ", position \($0 + 1)" } ?? ""
    failure.message = "xpath '\(shown)'\(place): \(failure.message)"
    failure.line = nil
    failure.column = nil
    return failure
  }

  /// libxml2's own texts are not handed to handlers.
  private static func message(_ code: Int32) -> String {
    switch xmlXPathError(rawValue: UInt32(clamping: code - Int32(XML_XPATH_EXPRESSION_OK.rawValue))) {
    case XPATH_UNFINISHED_LITERAL_ERROR, XPATH_START_LITERAL_ERROR: "a text without its end"
    case XPATH_NUMBER_ERROR: "a number is not one"
    case XPATH_VARIABLE_REF_ERROR, XPATH_UNDEF_VARIABLE_ERROR, XPATH_FORBID_VARIABLE_ERROR: "there are no variables"
    case XPATH_INVALID_PREDICATE_ERROR: "a predicate is wrong"
    case XPATH_UNCLOSED_ERROR: "a bracket is not closed"
    case XPATH_UNKNOWN_FUNC_ERROR: "unknown function"
    case XPATH_INVALID_OPERAND, XPATH_INVALID_TYPE: "a value of the wrong type"
    case XPATH_INVALID_ARITY: "a function with the wrong number of arguments"
    case XPATH_MEMORY_ERROR: "not enough memory"
    case XPATH_UNDEF_PREFIX_ERROR: "a namespace prefix is not declared"
    case XPATH_ENCODING_ERROR, XPATH_INVALID_CHAR_ERROR: "a character that cannot be there"
    case XPATH_OP_LIMIT_EXCEEDED: "the evaluation takes too many steps"
    case XPATH_RECURSION_LIMIT_EXCEEDED: "nested too deeply"
    default: "no expression"
    }
  }

  private static func value(_ result: xmlXPathObjectPtr) -> XPathValue {
    switch result.pointee.type {
    case XPATH_BOOLEAN: .boolean(result.pointee.boolval != 0)
    case XPATH_NUMBER: .number(result.pointee.floatval)
    case XPATH_STRING: .text(XMLLibrary.string(result.pointee.stringval) ?? "")
    default: .nodes(nodes(result.pointee.nodesetval))
    }
  }

  /// Namespace nodes are left out: they are no part of the tree and go with the result.
  private static func nodes(_ set: xmlNodeSetPtr?) -> [xmlNodePtr] {
    guard let set, let table = set.pointee.nodeTab else { return [] }
    let found = UnsafeBufferPointer(start: table, count: Int(set.pointee.nodeNr))
    return found.compactMap { $0 }.filter { $0.pointee.type != XML_NAMESPACE_DECL }
  }
}

/// Compiled expressions: scripts use few, many times. A full cache is emptied, so that made-up ones do not pile up.
final class XPathCache {
  private var expressions: [String: xmlXPathCompExprPtr] = [:]
  private static let capacity = 128

  /// Nil when the expression is wrong; `context` has been told why.
  func compiled(_ expression: String, _ context: xmlXPathContextPtr) -> xmlXPathCompExprPtr? {
    if let known = expressions[expression] { return known }
    guard let compiled = xmlXPathCtxtCompile(context, expression) else { return nil }
    if expressions.count >= XPathCache.capacity { removeAll() }
    expressions[expression] = compiled
    return compiled
  }

  private func removeAll() {
    for expression in expressions.values { xmlXPathFreeCompExpr(expression) }
    expressions.removeAll()
  }

  deinit { removeAll() }
}
