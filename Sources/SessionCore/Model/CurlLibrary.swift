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
  static let reusesPriorKnowledge = version >= 0x080000

  /// Each handle has a buffer of its own for what it reads; from 8.7 on they share one.
  static let hasBufferPerHandle = version < 0x080700

  private static let version = curl_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0

  /// HTTP/2 streams begin with a small window; false where libcurl gives each 32 MiB.
  static let narrowsStreams = isReady && hs_narrow_streams(StreamWindow.narrow)
}

/// How much a server may send of an HTTP/2 stream before the last of it has been taken.
enum StreamWindow {
  /// Of a transfer that may have to wait for a handler: what comes meanwhile is kept in memory.
  static let narrow: Int32 = 32 * 1024
  /// Of one whose body is taken as fast as it comes: enough for 80 MB/s at 100 ms. So much may have to be kept of one
  /// that is suspended while others on its connection are read.
  static let wide: Int32 = 8 * 1024 * 1024
}
