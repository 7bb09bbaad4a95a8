import SessionCore

/// The stores that a script's sessions share where it names none: the user's own, each made when it is first wanted.
final class StoreRegistry {
  /// The cookies of default sessions.
  private(set) lazy var cookies = CookieStorage.standard()
}
