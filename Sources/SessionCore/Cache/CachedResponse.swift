/// `CachedURLResponse`: a stored response as the layer above sees it.
public final class CachedResponse {
  public var head: ResponseHead
  /// The body, its content codings undone.
  public var data: Bytes
  /// The layer above has given other data.
  public var hasNewData = false
  /// The layer above has left everything as it was.
  public var isUnchanged = false
  public var storedAt: Double
  /// What a script has put beside it (JSON); empty for nothing.
  public var userInfo: [UInt8]
  public var storage: Storage

  /// `URLCache.StoragePolicy`.
  public enum Storage: String, Sendable {
    case allowed
    case memoryOnly = "memory_only"
    case notAllowed = "not_allowed"
  }

  public init(
    head: ResponseHead, data: Bytes, storedAt: Double, userInfo: [UInt8] = [], storage: Storage = .allowed
  ) {
    self.head = head
    self.data = data
    self.storedAt = storedAt
    self.userInfo = userInfo
    self.storage = storage
  }

  /// - Parameter body: As the server sent it.
  convenience init(_ stored: StoredResponse, _ body: Bytes, url: String, now: Double) {
    let data = DecoderChain.decoded(body, contentEncodings: stored.fields.all("content-encoding"))
    let head = ResponseHead(
      status: stored.status, reason: stored.reason, httpVersion: stored.httpVersion, url: url,
      headerBlock: stored.fields.block, expectedContentLength: data.count, isFromCache: stored.id != 0)
    self.init(
      head: head, data: data, storedAt: stored.storedAt == 0 ? now : stored.storedAt, userInfo: stored.userInfo,
      storage: stored.storage)
  }

  /// Puts what may be changed into a response that is to be stored.
  func apply(to stored: inout StoredResponse) {
    guard !isUnchanged else { return }
    stored.fields = head.headerBlock.withBytes { MessageFields(block: $0) }
    stored.status = head.status
    stored.userInfo = userInfo
    stored.storage = storage
    guard hasNewData else { return }
    stored.fields.remove("content-encoding")
    stored.fields.set("Content-Length", String(data.count))
  }
}
