/// The status line and fields of one response (`HTTPURLResponse` without a body).
public final class ResponseHead {
  /// As in `HTTP/1.1 200 OK`.
  public var status: Int
  /// May be empty (always so on HTTP/2).
  public var reason: String
  /// "1.0", "1.1", "2" or "3".
  public var httpVersion: String
  /// The URL of the request it answers, with the fragment, without user and password.
  public var url: String
  /// The field lines as received, each ended by CRLF, without the status line and the empty line. Trailers are not
  /// among them. Folded lines are joined.
  public var headerBlock: Bytes
  /// Content-Length on the wire, or -1.
  public var expectedContentLength: Int
  /// It is a stored response, perhaps one that the server has just confirmed.
  public var isFromCache: Bool

  public init(
    status: Int, reason: String, httpVersion: String, url: String, headerBlock: Bytes,
    expectedContentLength: Int, isFromCache: Bool = false
  ) {
    self.status = status
    self.reason = reason
    self.httpVersion = httpVersion
    self.url = url
    self.headerBlock = headerBlock
    self.expectedContentLength = expectedContentLength
    self.isFromCache = isFromCache
  }
}
