import CCurlShim

/// Resolves one reference after the other, mostly against the same base (the links of a page), which is parsed once.
public final class ReferenceResolver {
  private var base = ""
  private var parsed: URLHandle?

  public init() {}

  /// As `URLParts.resolve`; nil where there is no such URL.
  public func resolve(_ reference: String, against base: String) -> String? {
    if parsed == nil || self.base != base {
      let url = URLHandle()
      parsed = url.setAny(base) == CURLUE_OK ? url : nil
      self.base = base
    }
    return parsed.flatMap { try? URLParts.resolve(reference, against: URLHandle(copying: $0)).get() }
  }
}
