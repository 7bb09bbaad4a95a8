import CXML
import Glibc

/// libxml2's process-wide state, set once: it prints nothing, opens no file and no connection.
enum XMLLibrary {
  private static let prepared: Bool = {
    xmlInitParser()
    xmlSetExternalEntityLoader { _, _, _ in nil }
    cxml_silence()
    return true
  }()

  /// Call before anything else of libxml2.
  static func prepare() { _ = prepared }

  /// A limit on one text, since libxml2 counts bytes in 32 bits and a tree takes several times its text.
  static let maximumSize = 256 << 20

  /// The bytes of a C string, valid as long as the string.
  @inline(__always)
  static func bytes(_ text: UnsafePointer<xmlChar>?) -> UnsafeRawBufferPointer {
    guard let text else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    let count = strlen(UnsafeRawPointer(text).assumingMemoryBound(to: CChar.self))
    return UnsafeRawBufferPointer(start: text, count: count)
  }

  static func string(_ text: UnsafePointer<xmlChar>?) -> String? {
    text.map { String(decoding: bytes($0), as: UTF8.self) }
  }
}

/// Why a text could not be parsed or an expression evaluated.
struct XMLFailure: Error, Equatable {
  /// The error's code as scripts see it.
  var code: String
  var message: String
  /// From 1; nil where the fault has no place.
  var line: Int?
  /// From 1, in bytes.
  var column: Int?
  /// From 0: how far an expression was understood.
  var position: Int?

  static let tooLarge = XMLFailure(
    code: "too_large", message: "the document is larger than \(XMLLibrary.maximumSize >> 20) MiB")
  static let noMemory = XMLFailure(code: "out_of_memory", message: "there is no memory for the document")
}

/// Catches the first error that libxml2 reports while it works: later ones are mostly consequences.
final class XMLErrorLog {
  private(set) var first: XMLFailure?
  let code: String

  init(code: String) { self.code = code }

  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  static func at(_ context: UnsafeMutableRawPointer) -> XMLErrorLog {
    Unmanaged<XMLErrorLog>.fromOpaque(context).takeUnretainedValue()
  }

  /// - Parameter message: what to say where the error has no text of its own.
  func note(_ error: xmlError, message other: String = "unknown error") {
    guard first == nil, error.level.rawValue >= XML_ERR_ERROR.rawValue else { return }
    var message = error.message.map { String(cString: $0) } ?? other
    while message.last?.isWhitespace == true { message.removeLast() }
    first = XMLFailure(
      code: code, message: message, line: error.line > 0 ? Int(error.line) : nil,
      column: error.int2 > 0 ? Int(error.int2) : nil, position: error.int1 > 0 ? Int(error.int1) : nil)
  }

  func clear() { first = nil }
}
