/// The version of the product, as the default user agent and `--version` say it.
public enum Version {
  /// As in `1.2.3`.
  public static let text = "0.1.0"
}
