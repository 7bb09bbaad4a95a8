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

  public var domain: Domain
  public var code: Code
  /// One line for people.
  public var message: String
  /// The URL that was being fetched, without user and password.
  public var url: String?
  public var underlying: Underlying?

  public init(
    _ code: Code, domain: Domain = .url, _ message: String, url: String? = nil,
    underlying: Underlying? = nil
  ) {
    self.domain = domain
    self.code = code
    self.message = message
    self.url = url
    self.underlying = underlying
  }
}
