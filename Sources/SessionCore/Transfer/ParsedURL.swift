import CCurlShim
import Glibc

/// What a URL handle has been set to, so that the next URL of the same host costs no parsing: only its path and query
/// are replaced.
final class ParsedURL {
  /// The text, and a NUL behind it.
  private let text = Bytes()
  private var authorityLength = 0
  private var isRegular = false

  /// Sets a plain URL (`URLLook.isPlain`). Returns libcurl's code.
  func set(_ url: String, _ look: URLLook, in handle: URLHandle) -> CURLUcode {
    url.withBytes { bytes in
      let isSameHost =
        isRegular && look.isRegular && authorityLength == look.authorityLength && beginsWith(bytes, authorityLength)
      text.removeAll()
      guard text.append(bytes), text.append(byte: 0), let start = text.base else { return CURLUE_OUT_OF_MEMORY }
      let characters = start.assumingMemoryBound(to: CChar.self)
      let code = isSameHost ? replacePath(characters, look, handle) : parse(characters, handle)
      if code == CURLUE_OK { remember(look) } else { forget() }
      return code
    }
  }

  /// Whether it is set to this URL.
  func equals(_ url: String) -> Bool {
    url.withBytes { text.count == $0.count + 1 && beginsWith($0, $0.count) }
  }

  /// The URL that it is set to, ended by NUL.
  var characters: UnsafePointer<CChar>? { text.base.map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) } }

  /// The handle has been set to something else.
  func forget() {
    text.removeAll()
    isRegular = false
  }

  private func remember(_ look: URLLook) {
    authorityLength = look.authorityLength
    isRegular = look.isRegular
  }

  private func beginsWith(_ bytes: UnsafeRawBufferPointer, _ count: Int) -> Bool {
    guard text.count > count, bytes.count >= count, let base = text.base, let start = bytes.baseAddress else {
      return false
    }
    return memcmp(base, start, count) == 0
  }

  private func parse(_ text: UnsafePointer<CChar>, _ handle: URLHandle) -> CURLUcode {
    handle.clear()
    return curl_url_set(handle.handle, CURLUPART_URL, text, URLHandle.flags)
  }

  private func replacePath(
    _ text: UnsafeMutablePointer<CChar>, _ look: URLLook, _ handle: URLHandle
  ) -> CURLUcode {
    let path = text + look.authorityLength
    let end = path + look.pathLength
    let hasQuery = end.pointee != 0
    end.pointee = 0
    var code = curl_url_set(handle.handle, CURLUPART_PATH, path, 0)
    if hasQuery { end.pointee = CChar(UInt8(ascii: "?")) }
    if code == CURLUE_OK { code = curl_url_set(handle.handle, CURLUPART_QUERY, hasQuery ? end + 1 : nil, 0) }
    return code
  }
}
