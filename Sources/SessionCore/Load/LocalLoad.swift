/// A response that comes from somewhere else than libcurl: a `data:` or `file:` URL, a stored response, a protocol class
/// of the layer above. It takes no handle, no connection and no turn at a host, and goes through the same states of the
/// task and the same events as one from the network.
///
/// The transfer asks for one step after another, as far as it has room (`Transfer.pumpLoad`); where nothing is there yet
/// the load answers `.wait`, and `Transfer.queueLoad` has it asked again.
protocol LocalLoad: AnyObject {
  /// What `resource_fetch_type` says of it.
  var fetchType: TransactionMetrics.FetchType { get }
  /// The head is judged as one from the network is: redirects are followed, codings undone.
  var isJudged: Bool { get }
  func next() -> LocalStep
}

enum LocalStep {
  /// Nothing yet.
  case wait
  /// The head; once, before anything of the body.
  case response(LocalHead)
  /// A part of a block of the body.
  case data(Bytes, Range<Int>)
  /// Another request takes the place of this one. The load is over with it; its response is a head without a body where
  /// the redirect is refused.
  case redirect(LocalHead, Request)
  /// The response is whole.
  case finished
  case failed(TaskError)
}

/// The head of a response that was not received from a connection.
public struct LocalHead {
  public var status: Int
  public var reason: String
  /// "1.0", "1.1", "2" or "3".
  public var httpVersion: String
  public var headers: [HeaderField]

  public init(status: Int = 200, reason: String = "", httpVersion: String = "1.1", headers: [HeaderField] = []) {
    self.status = status
    self.reason = reason
    self.httpVersion = httpVersion
    self.headers = headers
  }
}
