import CCurlShim

/// libcurl, which is made ready before anything of it is used: what it allocates before and frees after would meet two
/// allocators.
enum CurlLibrary {
  static let isReady = hs_global_init() == CURLE_OK

  /// libcurl 7.88 greets an HTTP/2 server a second time when it uses a connection again that was begun with prior
  /// knowledge, which servers take for an error.
  static let reusesPriorKnowledge = (curl_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0) >= 0x080000
}
