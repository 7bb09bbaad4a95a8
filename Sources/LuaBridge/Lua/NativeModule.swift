import CLuaShim

/// A module of the standard library written in Swift: what `require` of its name gives.
///
/// Modules are opened on first use, so that a script pays only for what it requires.
public struct NativeModule {
  public struct Function {
    let name: String
    let body: (HostCall) -> Outcome
    public init(_ name: String, _ body: @escaping (HostCall) -> Outcome) {
      self.name = name
      self.body = body
    }
  }

  /// A userdata type: the module gets a field of that name, the table of its methods.
  public struct ObjectType {
    let name: String
    let number: Int32
    let methods: [Function]
    /// Fields that are computed when they are read.
    let properties: [Function]
    public init<Object: AnyObject>(
      _ name: String, _ type: HostType<Object>, methods: [Function], properties: [Function] = []
    ) {
      self.name = name
      number = type.number
      self.methods = methods
      self.properties = properties
    }
  }

  let name: String
  let functions: [Function]
  let types: [ObjectType]

  public init(_ name: String, functions: [Function], types: [ObjectType] = []) {
    self.name = name
    self.functions = functions
    self.types = types
  }

  /// Adds the members to the module's table. Runs under the shim's protected call, on values that live for ever.
  func open(_ module: OpaquePointer, interpreter: Interpreter) {
    for function in functions {
      clua_add_function(module, function.name, hostEntry, interpreter.context(for: function.body))
    }
    for type in types {
      clua_add_type(module, type.name, type.number)
      for method in type.methods {
        clua_add_method(module, type.number, method.name, hostEntry, interpreter.context(for: method.body))
      }
      for property in type.properties {
        clua_add_property(module, type.number, property.name, hostEntry, interpreter.context(for: property.body))
      }
    }
  }
}

/// What a C closure's context points at.
final class HostFunctionBox {
  let body: (HostCall) -> Outcome
  unowned let interpreter: Interpreter
  let results: Outbox

  init(body: @escaping (HostCall) -> Outcome, interpreter: Interpreter) {
    self.body = body
    self.interpreter = interpreter
    results = interpreter.outbox
  }
}

/// The one C function behind all host functions.
private let hostEntry: clua_function = { context, state in
  guard let context, let state else { return Int32(CLUA_RAISE.rawValue) }
  return Unmanaged<HostFunctionBox>.fromOpaque(context)._withUnsafeGuaranteedRef { box in
    box.body(HostCall(state: state, results: box.results, interpreter: box.interpreter)).code
  }
}
