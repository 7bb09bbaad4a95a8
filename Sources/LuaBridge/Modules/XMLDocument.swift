import CXML
import Glibc

/// A parsed document: the owner of libxml2's tree, which lives as long as the document or any of its nodes.
///
/// The tree is never changed after parsing, so that nodes are plain pointers into it.
final class XMLDocument {
  enum Flavour { case html, xml }

  let pointer: xmlDocPtr
  let flavour: Flavour
  /// Where the document came from, for its relative references.
  let url: String?
  /// Name of the character encoding it was decoded from; nil where libxml2 found it out by itself.
  let encoding: String?
  /// What the tree takes, roughly: counted against the collector's pace (see `XMLMemory`).
  let weight: Int
  private var madeEvaluation: XPathEvaluation?

  /// Takes the tree over.
  init(_ pointer: xmlDocPtr, flavour: Flavour, url: String?, encoding: String?, weight: Int) {
    self.pointer = pointer
    self.flavour = flavour
    self.url = url
    self.encoding = encoding
    self.weight = weight
    XMLMemory.added(weight)
    LiveDocuments.count += 1
  }

  deinit {
    madeEvaluation?.close()
    xmlFreeDoc(pointer)
    XMLMemory.removed(weight)
    LiveDocuments.count -= 1
  }

  /// Made at the first expression, since not every document is asked one. Nil when there is no memory.
  var evaluation: XPathEvaluation? {
    if madeEvaluation == nil { madeEvaluation = XPathEvaluation(pointer) }
    return madeEvaluation
  }

  /// The document as the node that it is in libxml2's tree.
  var node: xmlNodePtr { XMLTree.asNode(pointer) }

  var root: xmlNodePtr? { xmlDocGetRootElement(pointer) }

  /// The first element with this name in document order.
  func firstElement(_ name: StaticString) -> xmlNodePtr? {
    guard let root else { return nil }
    return XMLTree.firstElement(in: root) { XMLTree.isNamed($0, name) }
  }
}

/// How many documents are alive, for tests.
enum LiveDocuments {
  nonisolated(unsafe) static var count = 0
}

/// Lua sees a document as a few bytes and would let thousands pile up. This counts what trees really take and says
/// when a collection is due: whenever the sum has doubled since the last one, and is no less than what a collection has to
/// go through. (Memory that is given back soon is in the cache still, and need not be had of the kernel.)
enum XMLMemory {
  nonisolated(unsafe) private static var live = 0
  nonisolated(unsafe) private static var threshold = smallest
  private static let smallest = 16 << 20

  static func added(_ weight: Int) { live += weight }
  static func removed(_ weight: Int) { live -= weight }

  /// Call before a document is made.
  static func makeRoom(_ interpreter: Interpreter) {
    guard live > threshold else { return }
    interpreter.collect()
    threshold = max(smallest, live * 2, interpreter.memory)
  }
}
