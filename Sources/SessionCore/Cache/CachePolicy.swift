/// `URLRequest.CachePolicy`.
public enum CachePolicy: String, Sendable {
  /// What HTTP says.
  case useProtocolCachePolicy = "use_protocol_cache_policy"
  /// From the network; the response is stored.
  case reloadIgnoringLocalCacheData = "reload_ignoring_local_cache_data"
  /// What is stored, whatever its age; from the network where there is nothing.
  case returnCacheDataElseLoad = "return_cache_data_else_load"
  /// What is stored, whatever its age; nothing else.
  case returnCacheDataDontLoad = "return_cache_data_dont_load"
  /// What is stored once the server has confirmed it.
  case reloadRevalidatingCacheData = "reload_revalidating_cache_data"

  /// What is stored is used whatever its age.
  var ignoresAge: Bool { self == .returnCacheDataElseLoad || self == .returnCacheDataDontLoad }
}
