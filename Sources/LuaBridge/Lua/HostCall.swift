import CLuaShim
import SessionCore

/// What a host function wants done once its Swift frame is gone.
public enum Outcome {
  /// Return the pushed values.
  case returned
  /// Raise the pushed value; the caller's position is put before a text.
  case raised
  /// Suspend the calling fiber until the scheduler resumes it.
  case parked

  var code: Int32 {
    switch self {
    case .returned: Int32(CLUA_RETURN.rawValue)
    case .raised: Int32(CLUA_RAISE.rawValue)
    case .parked: Int32(CLUA_PARK.rawValue)
    }
  }
}

/// One call of a host function: its arguments, and the place for its results.
///
/// Arguments count from 1, as Lua's manual does. An accessor answers nil when the argument is absent or of another
/// type, and never converts. Nothing here can raise (see `CLuaShim.h`).
public struct HostCall {
  let state: OpaquePointer
  public let results: Outbox
  /// The interpreter that is calling.
  public let interpreter: Interpreter

  public var count: Int { Int(clua_top(state)) }

  public func isNil(_ index: Int) -> Bool { clua_typeof(state, Int32(index)) <= Int32(CLUA_NIL.rawValue) }
  public func typeName(_ index: Int) -> String { String(cString: clua_type_name(state, Int32(index))) }
  /// Lua's truth: everything but nil and false.
  public func boolean(_ index: Int) -> Bool { clua_boolean(state, Int32(index)) }

  /// A number with an exact integer value.
  public func integer(_ index: Int) -> Int? {
    var value: Int64 = 0
    return clua_integer(state, Int32(index), &value) ? Int(value) : nil
  }

  public func number(_ index: Int) -> Double? {
    var value = 0.0
    return clua_number(state, Int32(index), &value) ? value : nil
  }

  /// A string's bytes, valid during this call only.
  public func bytes(_ index: Int) -> UnsafeRawBufferPointer? {
    var length = 0
    guard let start = clua_string(state, Int32(index), &length) else { return nil }
    return UnsafeRawBufferPointer(start: start, count: length)
  }

  /// A string as text; bytes that are not UTF-8 become replacement characters.
  public func string(_ index: Int) -> String? {
    bytes(index).map { String(decoding: $0, as: UTF8.self) }
  }

  /// A string's bytes, kept.
  public func octets(_ index: Int) -> Octets? { bytes(index).map { Octets(bytes: $0) } }

  /// The Swift object behind a userdata of `type`.
  public func object<Object: AnyObject>(_ index: Int, _ type: HostType<Object>) -> Object? {
    guard let pointer = clua_object(state, Int32(index), type.number) else { return nil }
    return Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// The raw state, for the shim's bulk conversions.
  public var rawState: OpaquePointer { state }

  /// For `return call.wrongType(1, "string")`: raises what Lua's own functions raise.
  public func wrongType(_ index: Int, _ expected: String) -> Outcome {
    let actual = clua_typeof(state, Int32(index)) < 0 ? "no value" : typeName(index)
    return raise("bad argument #\(index) (\(expected) expected, got \(actual))")
  }

  public func raise(_ message: String) -> Outcome {
    results.append(message)
    return .raised
  }
}

/// A kind of userdata that stands for Swift objects of one class.
public struct HostType<Object: AnyObject>: Sendable {
  /// Index of its metatable; unique in the process.
  public let number: Int32
  public init(_ kind: HostTypeNumber) { number = kind.rawValue }
}

/// All userdata types, so that no two share a number.
public enum HostTypeNumber: Int32, CaseIterable, Sendable {
  case document
  case node
  case part
  case cookieStorage
  case credentialStorage
  case cache
  case backgroundDirectory
}
