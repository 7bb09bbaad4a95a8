import SessionCore

/// The stores that a script's sessions share where it names none: the user's own, each made when it is first wanted.
final class StoreRegistry {
  /// The cookies of default sessions.
  private(set) lazy var cookies = CookieStorage.standard()
  /// The hosts they speak to over https only.
  private(set) lazy var hsts = HSTSStorage.standard()
  /// Where the hosts can be had as well.
  private(set) lazy var alternatives = AlternativeServiceStorage.standard()
  /// Their credentials.
  private(set) lazy var credentials = CredentialStorage.standard()
  /// The responses of default sessions; nothing of it is opened before there is something to find or to store.
  private(set) lazy var cache = ResponseCache.standard()
}
