import CXML
import Glibc

/// Moves the parser past text that nobody wants. libxml2 takes text character by character, which is most of its work on
/// a page of prose, and drops it again where there is no handler for it.
///
/// This happens only where text cannot change what the parser does with the rest: directly behind a tag, inside an
/// element of the body. (Outside of the body, text makes libxml2 imply elements.) Tags, comments and scripts are found by
/// the parser itself, which goes on at the next `<`.
enum HTMLTextSkip {
  /// To be called last when a start tag is told. The parser still stands before the tag's `>`, if that is where it is,
  /// and goes on behind the next one that it finds there.
  @inline(__always)
  static func skip(afterStartOf name: UnsafePointer<xmlChar>, _ parser: xmlParserCtxtPtr) {
    // What these hold is no text to the parser, unless it begins with an end tag.
    if name[0] == UInt8(ascii: "s"), XMLTree.matches(name, "script") || XMLTree.matches(name, "style") { return }
    guard let input = parser.pointee.input, let current = input.pointee.cur, current[0] == UInt8(ascii: ">"),
      isInsideBody(parser), let next = nextMarkup(input, current + 1), next > current + 1
    else { return }
    // The input is the parser's own copy of the text.
    UnsafeMutablePointer(mutating: next - 1).pointee = UInt8(ascii: ">")
    input.pointee.cur = next - 1
  }

  /// To be called last when an element's end is told.
  @inline(__always)
  static func skip(afterEndOf name: UnsafePointer<xmlChar>, _ parser: xmlParserCtxtPtr) {
    guard let input = parser.pointee.input, let current = input.pointee.cur, current[0] != UInt8(ascii: "<"),
      current > input.pointee.base, current[-1] == UInt8(ascii: ">"), isInsideBody(parser),
      isEndTag(of: name, before: current, input), let next = nextMarkup(input, current)
    else { return }
    input.pointee.cur = next
  }

  /// Whether the innermost element's parent is the body or in it.
  @inline(__always)
  private static func isInsideBody(_ parser: xmlParserCtxtPtr) -> Bool {
    guard parser.pointee.nameNr >= 3, let body = parser.pointee.nameTab[1] else { return false }
    return XMLTree.matches(body, "body")
  }

  /// Whether exactly `</name>` is what comes before: the tag then ends this element only, and is wholly read.
  @inline(__always)
  private static func isEndTag(
    of name: UnsafePointer<xmlChar>, before current: UnsafePointer<xmlChar>, _ input: xmlParserInputPtr
  ) -> Bool {
    let length = strlen(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
    guard current - input.pointee.base >= length + 3 else { return false }
    let start = current - length - 1
    return start[-2] == UInt8(ascii: "<") && start[-1] == UInt8(ascii: "/") && memcmp(start, name, length) == 0
  }

  @inline(__always)
  private static func nextMarkup(
    _ input: xmlParserInputPtr, _ start: UnsafePointer<xmlChar>
  ) -> UnsafePointer<xmlChar>? {
    guard let end = input.pointee.end, start <= end else { return nil }
    guard let found = memchr(start, Int32(UInt8(ascii: "<")), end - start) else { return end }
    return UnsafePointer(found.assumingMemoryBound(to: xmlChar.self))
  }
}
