import CLuaShim
import SessionCore

/// Values on their way to Lua. Appending cannot raise; the shim pushes them when no Swift frame is in between.
public struct Outbox {
  let pointer: UnsafeMutablePointer<clua_outbox>

  var position: Int { pointer.pointee.count }

  public func appendNil() { clua_out_nil(pointer) }
  public func append(_ value: Bool) { clua_out_boolean(pointer, value) }
  public func append(_ value: Int) { clua_out_integer(pointer, Int64(value)) }
  public func append(_ value: Double) { clua_out_number(pointer, value) }

  public func append(_ value: String) {
    value.withBytes { clua_out_string(pointer, $0.baseAddress, $0.count) }
  }

  public func append(_ value: String?) {
    if let value { append(value) } else { appendNil() }
  }

  /// Copies the bytes now.
  public func append(copying bytes: UnsafeRawBufferPointer) {
    clua_out_string(pointer, bytes.baseAddress, bytes.count)
  }

  public func append(_ value: Octets) { value.bytes.withUnsafeBytes(append(copying:)) }

  /// Only notes the place: the caller keeps the block alive until the values have been pushed.
  public func append(borrowing bytes: Bytes) {
    clua_out_borrowed(pointer, bytes.base, bytes.count)
  }

  /// Hands the object over to Lua, which releases it when it is collected.
  public func append<Object: AnyObject>(_ object: Object, _ type: HostType<Object>) {
    clua_out_object(pointer, type.number, Unmanaged.passRetained(object).toOpaque())
  }

  /// Begins a table whose sequence is the next `count` values.
  public func beginList(_ count: Int) { clua_out_list(pointer, Int32(clamping: count)) }

  /// Begins a table made from the next `count` pairs of key and value.
  public func beginRecord(_ count: Int) { clua_out_record(pointer, Int32(clamping: count)) }
}
