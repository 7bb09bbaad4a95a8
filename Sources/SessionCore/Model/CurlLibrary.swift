import CCurlShim

/// libcurl, which is made ready before anything of it is used: what it allocates before and frees after would meet two
/// allocators.
enum CurlLibrary {
  static let isReady = hs_global_init() == CURLE_OK
}
