/// What the cache has to do with one request of a transfer.
final class CacheTransaction {
  private(set) var request: CacheRequest
  let requestedAt = WallClock.now
  var load: CacheLoad
  /// What is done when the response that comes has been dropped.
  var next: Next?
  /// The response that is being stored, and its body so far.
  private(set) var storing: StoredResponse?
  private(set) var recorder: BodyRecorder?
  /// The rest of a part: it is put together with what is stored and then given out from there.
  private(set) var isCompletion = false

  enum Next {
    /// The stored response is given out.
    case serve(StoredResponse, CacheAnswer)
    /// The request is made again without conditions.
    case loadPlainly
  }

  init(_ request: CacheRequest, _ load: CacheLoad) {
    self.request = request
    self.load = load
  }

  /// The request goes out with these cookies; those that its response sets do not count.
  func sends(cookies: [UInt8]?) {
    let sent = cookies ?? request.fields.bytes("cookie")
    request.cookies = { sent }
  }

  func begin(_ response: StoredResponse, _ recorder: BodyRecorder?, isCompletion: Bool = false) {
    storing = recorder == nil ? nil : response
    self.recorder = recorder
    self.isCompletion = isCompletion
  }

  /// Nothing is stored.
  func giveUp() { (storing, recorder) = (nil, nil) }

  func record(_ bytes: UnsafeRawBufferPointer) {
    if let recorder, !recorder.append(bytes) { giveUp() }
  }

  /// The stored response may be given out in place of an error.
  var mayFallBack: Bool { load.stored != nil && WallClock.now <= load.fallbackUntil }
}
