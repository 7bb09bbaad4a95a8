/// The codes scripts meet, NSURLError names in snake_case.
extension TaskError.Code {
  /// `NSURLErrorCancelled`.
  public static let cancelled = Self("cancelled")
  /// `NSURLErrorBadURL`.
  public static let badURL = Self("bad_url")
  /// `NSURLErrorUnsupportedURL`.
  public static let unsupportedURL = Self("unsupported_url")
  /// `NSURLErrorTimedOut`: one of the two timeouts passed.
  public static let timedOut = Self("timed_out")
  /// `NSURLErrorCannotFindHost`.
  public static let cannotFindHost = Self("cannot_find_host")
  /// `NSURLErrorCannotConnectToHost`.
  public static let cannotConnectToHost = Self("cannot_connect_to_host")
  /// `NSURLErrorNetworkConnectionLost`: it ended before the response was whole.
  public static let networkConnectionLost = Self("network_connection_lost")
  /// `NSURLErrorNotConnectedToInternet`: there is no route.
  public static let notConnectedToInternet = Self("not_connected_to_internet")
  /// `NSURLErrorHTTPTooManyRedirects`.
  public static let httpTooManyRedirects = Self("http_too_many_redirects")
  /// `NSURLErrorRedirectToNonExistentLocation`: Location is no URL.
  public static let redirectToNonexistentLocation = Self("redirect_to_nonexistent_location")
  /// `NSURLErrorBadServerResponse`.
  public static let badServerResponse = Self("bad_server_response")
  /// `NSURLErrorCannotParseResponse`: it is no HTTP.
  public static let cannotParseResponse = Self("cannot_parse_response")
  /// `NSURLErrorCannotDecodeRawData`.
  public static let cannotDecodeRawData = Self("cannot_decode_raw_data")
  /// `NSURLErrorCannotDecodeContentData`: a content coding is damaged or cut.
  public static let cannotDecodeContentData = Self("cannot_decode_content_data")
  /// `NSURLErrorUserAuthenticationRequired`.
  public static let userAuthenticationRequired = Self("user_authentication_required")
  /// `NSURLErrorUserCancelledAuthentication`.
  public static let userCancelledAuthentication = Self("user_cancelled_authentication")
  /// `NSURLErrorRequestBodyStreamExhausted`: the body cannot be sent (again).
  public static let requestBodyStreamExhausted = Self("request_body_stream_exhausted")
  /// `NSURLErrorDataLengthExceedsMaximum`.
  public static let dataLengthExceedsMaximum = Self("data_length_exceeds_maximum")
  /// The file or body is not what a checksum, or the server's own digest, says. (Not one of Apple's.)
  public static let checksumMismatch = Self("checksum_mismatch")
  /// `NSURLErrorSecureConnectionFailed`.
  public static let secureConnectionFailed = Self("secure_connection_failed")
  /// `NSURLErrorServerCertificateUntrusted`.
  public static let serverCertificateUntrusted = Self("server_certificate_untrusted")
  /// `NSURLErrorServerCertificateHasUnknownRoot`.
  public static let serverCertificateHasUnknownRoot = Self("server_certificate_has_unknown_root")
  /// `NSURLErrorServerCertificateHasBadDate`: expired.
  public static let serverCertificateHasBadDate = Self("server_certificate_has_bad_date")
  /// `NSURLErrorServerCertificateNotYetValid`.
  public static let serverCertificateNotYetValid = Self("server_certificate_not_yet_valid")
  /// `NSURLErrorClientCertificateRequired`.
  public static let clientCertificateRequired = Self("client_certificate_required")
  /// `NSURLErrorClientCertificateRejected`.
  public static let clientCertificateRejected = Self("client_certificate_rejected")
  /// `NSURLErrorFileDoesNotExist`.
  public static let fileDoesNotExist = Self("file_does_not_exist")
  /// `NSURLErrorFileIsDirectory`.
  public static let fileIsDirectory = Self("file_is_directory")
  /// `NSURLErrorNoPermissionsToReadFile`.
  public static let noPermissionsToReadFile = Self("no_permissions_to_read_file")
  /// `NSURLErrorCannotOpenFile`.
  public static let cannotOpenFile = Self("cannot_open_file")
  /// `NSURLErrorCannotCreateFile`.
  public static let cannotCreateFile = Self("cannot_create_file")
  /// `NSURLErrorCannotWriteToFile`.
  public static let cannotWriteToFile = Self("cannot_write_to_file")
  /// `NSURLErrorCannotMoveFile`.
  public static let cannotMoveFile = Self("cannot_move_file")
  /// `NSURLErrorBackgroundSessionInUseByAnotherProcess`.
  public static let backgroundSessionInUse = Self("background_session_in_use_by_another_process")
  /// `NSURLErrorAppTransportSecurityRequiresSecureConnection`.
  public static let transportSecurityRequiresSecureConnection =
    Self("app_transport_security_requires_secure_connection")
  /// `NSURLErrorResourceUnavailable`.
  public static let resourceUnavailable = Self("resource_unavailable")
  /// `NSURLErrorUnknown`: libcurl's own words are in `underlying`.
  public static let unknown = Self("unknown")
}
