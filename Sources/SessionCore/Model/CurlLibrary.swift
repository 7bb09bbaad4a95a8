import CCurlShim
import Glibc

/// libcurl, which is made ready before anything of it is used: what it allocates before and frees after would meet two
/// allocators.
enum CurlLibrary {
  static let isReady = hs_global_init() == CURLE_OK

  /// The system's file of trusted authorities, where libcurl knows one that is there.
  static let bundle: String? = {
    guard isReady, let easy = curl_easy_init() else { return nil }
    defer { curl_easy_cleanup(easy) }
    var path: UnsafePointer<CChar>?
    hs_easy_get_string(easy, CURLINFO_CAINFO, &path)
    guard let path, access(path, R_OK) == 0 else { return nil }
    return String(cString: path)
  }()

  /// libcurl 7.88 greets an HTTP/2 server a second time when it uses a connection again that was begun with prior
  /// knowledge, which servers take for an error.
  static let reusesPriorKnowledge = (curl_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0) >= 0x080000
}
