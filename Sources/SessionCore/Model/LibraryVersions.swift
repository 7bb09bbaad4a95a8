import CCurlShim
import CLateLibraries
import CSQLite

extension Version {
  /// The version of libcurl that is loaded, as in "7.88.1".
  public static var libcurl: String {
    guard let data = curl_version_info(CURLVERSION_TENTH), let text = data.pointee.version else { return "unknown" }
    return String(cString: text)
  }

  /// The TLS library behind libcurl, as in "OpenSSL/3.0.15".
  public static var tls: String {
    guard let data = curl_version_info(CURLVERSION_TENTH), let text = data.pointee.ssl_version else { return "none" }
    return String(cString: text)
  }

  /// The version of SQLite, as in "3.40.1"; nil where it is not installed (stores are in memory then).
  public static var sqlite: String? {
    guard late_load("libsqlite3.so.0"), let text = sqlite3_libversion() else { return nil }
    return String(cString: text)
  }
}
