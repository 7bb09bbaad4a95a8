/// What the core tells the layer above. Events of one task come in the order Apple documents;
/// `completed` is always the last one of its task, and comes exactly once.
public enum Event {
  /// A redirect response; the task waits for `Answer.redirect`. Only with `Interest.redirect`.
  case willRedirect(TaskID, ResponseHead, proposed: Request)
  /// Credentials are asked for; the response that asks, if there is one, is withheld until `Answer.challenge`.
  /// Only with `Interest.challenge` or `Interest.connectionChallenge`.
  case challenge(TaskID, Challenge)
  /// A 1xx response (100 Continue excepted, which is a matter of transport). Does not wait.
  case informational(TaskID, ResponseHead)
  /// The final response's head; the task waits for `Answer.response`. Only with `Interest.response`.
  case response(TaskID, ResponseHead)
  /// A piece of the decoded body; the task waits for `Answer.dataConsumed` before the next one.
  /// Only with `Destination.consumer`. The numbers are those of `progress`.
  case data(TaskID, Bytes, received: Int, expected: Int)
  /// Bytes of the request body sent: by this step, in all, and expected (-1: unknown). Does not wait;
  /// successive ones may be merged. Only with `Interest.sentBodyData`.
  case sentBodyData(TaskID, sent: Int, total: Int, expected: Int)
  /// Bytes of the response body received on the wire (before decoding) and expected on the wire (-1: unknown).
  /// Never more than expected, never falls within one response. Does not wait; merged, at most one per turn of
  /// the loop, and always once more at the end. Only with `Interest.progress`.
  case progress(TaskID, received: Int, expected: Int)
  /// The body is `RequestBody.reader` and the transfer wants the next piece (of about this size).
  /// The task waits for `Answer.bodyChunk` or `.bodyFailed`.
  case needsBodyChunk(TaskID, suggestedSize: Int)
  /// The body is `RequestBody.stream`, or must be sent again and cannot be rewound. Waits for `Answer.newBody`. Only
  /// with `Interest.newBody`.
  case needsBodyStream(TaskID)
  /// What a stream has to tell.
  case stream(TaskID, StreamEvent)
  case webSocket(TaskID, WebSocketEvent)
  /// A download goes on where an earlier task stopped: at this byte, of so many.
  case resumed(TaskID, offset: Int, expected: Int)
  /// A download task has failed, and another one can go on with what `blob` says. The bytes are in the file `part`,
  /// which goes with the process unless `Command.keepDownload` moves it to `kept`, where the blob says it is. (They are
  /// the same where it was there already.)
  case resumeData(TaskID, Bytes, part: String, kept: String)
  /// A download task's file is whole, and closed. It is the receiver's to move or to remove
  /// (`Command.removeDownload`); what is left goes with the process.
  case finishedDownloading(TaskID, location: String)
  /// A request is about to be made, which the layer above may make in the core's place; waits for `Answer.loader`. Only
  /// with `SessionConfiguration.asksForLoaders`.
  case needsLoader(TaskID, Request)
  /// All that came before `LoadStep.tellWhenDrained` has been taken.
  case loadDrained(TaskID)
  /// The response has come whole and is to be stored; waits for `Answer.cache`. Only with `Interest.cache`.
  case willCache(TaskID, CachedResponse)
  /// There is no network, and the task waits for one (`SessionConfiguration.waitsForConnectivity`). Once for a task.
  case waitingForConnectivity(TaskID)
  /// The end of a task.
  case completed(TaskID, Completion)
  /// The end of `Command.perform`.
  case performed(TaskID, any HelperWork)
  /// The end of a session (`urlSession(_:didBecomeInvalidWithError:)`).
  case sessionInvalidated(SessionID)
  /// `Command.useKeyring` has been done.
  case keyringUsed(Int)

  /// The task it is about.
  public var task: TaskID? {
    switch self {
    case .completed(let task, _), .willRedirect(let task, _, _), .informational(let task, _), .response(let task, _),
      .data(let task, _, _, _), .sentBodyData(let task, _, _, _), .progress(let task, _, _),
      .needsBodyChunk(let task, _),
      .needsBodyStream(let task), .challenge(let task, _), .willCache(let task, _), .needsLoader(let task, _),
      .loadDrained(let task), .waitingForConnectivity(let task), .finishedDownloading(let task, _),
      .resumed(let task, _, _), .resumeData(let task, _, _, _), .stream(let task, _), .webSocket(let task, _),
      .performed(let task, _):
      task
    case .sessionInvalidated, .keyringUsed: nil
    }
  }
}

/// How a task ended. `error == nil` is success; a response may be there beside an error.
///
/// An object, as an event is copied on its way up.
public final class Completion {
  public var response: ResponseHead?
  /// `Event.response` has told of just this one.
  public var isResponseKnown = false
  /// The body, where the destination was `.memory`.
  public var body: Bytes?
  public var error: TaskError?
  /// The redirects that were followed, in order.
  public var redirects: [RedirectHop]
  public var metrics: TaskMetrics
  /// Body bytes on the wire, all hops together for sent, the last response only for received.
  public var bytesSent: Int
  public var bytesReceived: Int
  public var bytesExpectedToSend: Int
  public var bytesExpectedToReceive: Int

  public init(
    response: ResponseHead? = nil, body: Bytes? = nil, error: TaskError? = nil,
    redirects: [RedirectHop] = [], metrics: TaskMetrics = TaskMetrics(), bytesSent: Int = 0,
    bytesReceived: Int = 0, bytesExpectedToSend: Int = -1, bytesExpectedToReceive: Int = -1
  ) {
    self.response = response
    self.body = body
    self.error = error
    self.redirects = redirects
    self.metrics = metrics
    self.bytesSent = bytesSent
    self.bytesReceived = bytesReceived
    self.bytesExpectedToSend = bytesExpectedToSend
    self.bytesExpectedToReceive = bytesExpectedToReceive
  }
}

/// One followed redirect: the response that asked for it and where it led.
public struct RedirectHop: Sendable {
  public var status: Int
  public var from: String
  public var to: String
  public init(status: Int, from: String, to: String) {
    self.status = status
    self.from = from
    self.to = to
  }
}
