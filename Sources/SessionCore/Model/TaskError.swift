/// Why a task failed, in Apple's vocabulary (NSURLError names in snake_case), with the cause's own words kept.
public struct TaskError: Error, Equatable, Sendable {
  /// The name scripts compare with. A struct over text, so that the list can grow.
  public struct Code: Hashable, Sendable {
    public let name: String
    init(_ name: String) { self.name = name }
  }

  public enum Domain: String, Sendable {
    case url, file, script
  }

  /// What lies beneath: libcurl's or the system's number and text.
  public struct Underlying: Equatable, Sendable {
    public enum Source: String, Sendable { case libcurl, errno, system }
    public var source: Source
    public var code: Int
    public var message: String
    public init(source: Source, code: Int, message: String) {
      self.source = source
      self.code = code
      self.message = message
    }
  }

  public var domain: Domain {
    get { box.values.domain }
    set { change { $0.domain = newValue } }
  }
  public var code: Code { box.values.code }
  /// One line for people.
  public var message: String { box.values.message }
  /// The URL that was being fetched, without user and password.
  public var url: String? {
    get { box.values.url }
    set { change { $0.url = newValue } }
  }
  public var underlying: Underlying? {
    get { box.values.underlying }
    set { change { $0.underlying = newValue } }
  }

  public init(
    _ code: Code, domain: Domain = .url, _ message: String, url: String? = nil,
    underlying: Underlying? = nil
  ) {
    box = Box(Values(domain: domain, code: code, message: message, url: url, underlying: underlying))
  }

  public static func == (one: TaskError, other: TaskError) -> Bool { one.box.values == other.box.values }

  private struct Values: Equatable, Sendable {
    var domain: Domain
    var code: Code
    var message: String
    var url: String?
    var underlying: Underlying?
  }

  /// What can fail has an optional error with it, mostly none: that must be cheap to copy about.
  private final class Box: Sendable {
    let values: Values
    init(_ values: Values) { self.values = values }
  }

  private var box: Box

  private mutating func change(_ body: (inout Values) -> Void) {
    var values = box.values
    body(&values)
    box = Box(values)
  }
}
