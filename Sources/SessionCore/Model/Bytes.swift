import Glibc

/// A block of bytes with one owner list: shared by reference, never copied on its way up or down.
///
/// It grows by `append` while it is being filled and is only read afterwards. Kept outside Swift's `Array`, so that
/// libcurl's callbacks can append without zeroing and Lua can read without a copy.
public final class Bytes {
  public private(set) var base: UnsafeMutableRawPointer?
  public private(set) var count = 0
  private var capacity = 0

  public init(capacity: Int = 0) {
    if capacity > 0 { reserve(capacity) }
  }

  /// Copies the text's UTF-8.
  public convenience init(_ text: String) {
    self.init()
    var text = text
    _ = text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  public convenience init(copying source: UnsafeRawBufferPointer) {
    self.init(capacity: source.count)
    append(source)
  }

  deinit { free(base) }

  /// False when memory for it cannot be had; the block is then as before.
  @discardableResult
  public func append(_ source: UnsafeRawBufferPointer) -> Bool {
    guard let start = source.baseAddress, source.count > 0 else { return true }
    if count + source.count > capacity, !reserve(count + source.count) { return false }
    guard let base else { return false }
    memcpy(base + count, start, source.count)
    count += source.count
    return true
  }

  @discardableResult
  func append(byte: UInt8) -> Bool {
    withUnsafeBytes(of: byte) { append($0) }
  }

  /// Appends CR LF.
  func appendLineEnd() {
    let lineEnd: StaticString = "\r\n"
    append(UnsafeRawBufferPointer(start: lineEnd.utf8Start, count: 2))
  }

  /// Takes that many bytes off the end.
  func removeLast(_ number: Int) { count = max(0, count - number) }

  /// Takes that many bytes off the start; the rest moves down.
  func removeFirst(_ number: Int) {
    let left = max(0, count - number)
    if left > 0, let base { memmove(base, base + number, left) }
    count = left
  }

  /// Empties it and keeps the memory for the next use.
  public func removeAll() { count = 0 }

  public var buffer: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base, count: count)
  }

  /// Shows the bytes while the block is sure to live; `buffer` of a block that nobody else keeps may outlive it.
  public func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { extendLifetime(self) }
    return try body(buffer)
  }

  /// A copy.
  var array: [UInt8] { withBytes { Array($0) } }

  /// The same bytes.
  func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let base, let start = other.baseAddress else { return count == 0 }
    return memcmp(base, start, count) == 0
  }

  /// The bytes read as UTF-8, with replacement characters where they are not.
  public var text: String { String(decoding: buffer, as: UTF8.self) }

  @discardableResult
  public func reserve(_ wanted: Int) -> Bool {
    guard wanted > capacity else { return true }
    let size = max(wanted, capacity * 2, 256)
    guard let grown = realloc(base, size) else { return false }
    base = grown
    capacity = size
    return true
  }
}

extension String {
  /// Shows its UTF-8 where it is; unlike `withUTF8`, without a copy of the string that could be changed.
  @inlinable @inline(__always)
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
      ?? Array(utf8).withUnsafeBytes(body)
  }
}
