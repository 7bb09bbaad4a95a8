import CCurlShim

/// libcurl's URL object, which is the only URL parser in the house. Kept by a pooled easy handle and used again.
final class URLHandle {
  /// What every parse in the house allows: raw UTF-8 and spaces are percent-encoded once, and nothing else is touched.
  static let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE)

  let handle: OpaquePointer?

  init() { handle = CurlLibrary.isReady ? curl_url() : nil }

  init(copying other: URLHandle) { handle = curl_url_dup(other.handle) }

  deinit { curl_url_cleanup(handle) }

  /// Parses an absolute URL, or a reference relative to what was set before. Returns libcurl's code, 0 for success.
  func set(_ text: some StringProtocol, flags: UInt32 = URLHandle.flags) -> CURLUcode {
    text.withCString { curl_url_set(handle, CURLUPART_URL, $0, flags) }
  }

  func set(_ part: CURLUPart, _ text: String?, flags: UInt32 = 0) -> CURLUcode {
    guard let text else { return curl_url_set(handle, part, nil, 0) }
    return text.withCString { curl_url_set(handle, part, $0, flags) }
  }

  /// A part as text; nil where there is none.
  func get(_ part: CURLUPart, flags: UInt32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }

  /// A part with its percent-encoding undone, control characters included (which libcurl refuses to decode).
  func getDecoded(_ part: CURLUPart) -> String? {
    get(part).map { PercentEncoding.decode($0) }
  }

  /// Forgets the URL, so that the next `set` is not resolved against it.
  func clear() { curl_url_set(handle, CURLUPART_URL, nil, 0) }
}
