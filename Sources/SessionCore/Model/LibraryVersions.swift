import CCurlShim

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
}
