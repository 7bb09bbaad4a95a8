/// Which protection spaces a stored credential is for. A part that is not named is any.
public struct SpacePattern: Hashable, Sendable {
  /// In lower case.
  public var host: String
  public var port: Int?
  /// "http" or "https".
  public var scheme: String?
  public var realm: Octets?
  /// In lower case.
  public var method: String?
  public var isProxy: Bool

  public init(
    host: String, port: Int? = nil, scheme: String? = nil, realm: Octets? = nil, method: String? = nil,
    isProxy: Bool = false
  ) {
    self.host = host.lowercased()
    self.port = port
    self.scheme = scheme?.lowercased()
    self.realm = realm
    self.method = method?.lowercased()
    self.isProxy = isProxy
  }

  /// A space and nothing else.
  init(_ space: ProtectionSpace) {
    self.init(
      host: space.host, port: space.port, scheme: space.scheme, realm: space.realm, method: space.method,
      isProxy: space.isProxy)
  }

  /// Whether what is stored under this pattern is for all that `other` stands for.
  func covers(_ other: SpacePattern) -> Bool {
    func holds<Part: Equatable>(_ mine: Part?, _ theirs: Part?) -> Bool { mine == nil || mine == theirs }
    return host == other.host && isProxy == other.isProxy && holds(port, other.port) && holds(scheme, other.scheme)
      && holds(realm, other.realm) && holds(method, other.method)
  }

  /// How many parts are named: of two patterns that cover a space the one that says more is meant.
  var precision: Int {
    (port == nil ? 0 : 1) + (scheme == nil ? 0 : 1) + (realm == nil ? 0 : 1) + (method == nil ? 0 : 1)
  }
}
