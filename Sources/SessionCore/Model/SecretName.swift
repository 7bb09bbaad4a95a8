/// Names that tell that a secret stands behind them: those of HTTP, and what services call theirs.
public enum SecretName {
  /// Of a header field.
  public static func isField(_ name: Substring) -> Bool {
    let name = name.lowercased()
    return name.holds("authorization") || name.holds("cookie") || holdsWord(name)
  }

  /// Of a parameter of a URL.
  static func isParameter(_ name: Substring) -> Bool {
    let name = name.lowercased()
    return ["key", "sig", "pass", "pwd"].contains(name) || holdsWord(name) || name.holds("api_key")
      || name.holds("passwd") || name.holds("signature")
  }

  /// - Parameter name: in lower case.
  private static func holdsWord(_ name: String) -> Bool {
    name.holds("token") || name.holds("secret") || name.holds("password") || name.holds("api-key")
      || name.holds("apikey")
  }
}
