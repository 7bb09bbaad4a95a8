import SessionCore

/// The stores that a script's sessions share where it names none: the user's own, each made when it is first wanted.
final class StoreRegistry {
  /// The cookies of default sessions.
  private(set) lazy var cookies = CookieStorage.standard()
  /// The responses of default sessions; nothing of it is opened before there is something to find or to store.
  private(set) lazy var cache = ResponseCache.standard()
}
