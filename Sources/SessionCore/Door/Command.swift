/// What the layer above may ask of the core, beside `Port.start`. Values only: tasks and sessions are named by id.
///
/// A command never fails where it is submitted. What goes wrong comes back as the task's
/// `Event.completed` with an error. Commands for a task that is complete, or was never begun, are ignored,
/// so that a late answer does no harm.
public enum Command {
  /// Makes a session. Must come before its first task.
  case createSession(SessionID, SessionConfiguration)
  /// Begins a stream task.
  case startStream(TaskID, SessionID, StreamRequest)
  /// Something for the stream that the task is, or has become.
  case stream(TaskID, StreamCommand)
  /// Something for a WebSocket.
  case webSocket(TaskID, WebSocketCommand)
  /// Pauses transmission and the task's timers (`URLSessionTask.suspend`). Does not nest here; the caller counts.
  case suspendTask(TaskID)
  /// Undoes `suspendTask`.
  case resumeTask(TaskID)
  /// Changes a task's priority: its place in the queue for its host, or the weight of its stream.
  case setPriority(TaskID, Double)
  /// Ends the task with `cancelled`, unless it is complete. Only queues: the completion comes as an event.
  case cancelTask(TaskID)
  /// The word of a handler that the task is waiting for.
  case answer(TaskID, Answer)
  /// No new tasks; ends the session once its tasks are done, or at once when `cancellingTasks`.
  /// `Event.sessionInvalidated` is the last event of a session.
  case invalidateSession(SessionID, cancellingTasks: Bool)
  /// Ends a download task with `cancelled`, as `cancelTask` does; where that is possible, what has come is kept and
  /// `Event.resumeData` comes before the completion.
  case cancelTaskKeeping(TaskID)
  /// Puts the file of `Event.resumeData` where it outlives the process.
  case keepDownload(part: String, kept: String)
  /// Removes the file of `Event.finishedDownloading` or `.resumeData`, if it is still there.
  case removeDownload(location: String)
  /// Closes idle connections, so that the next request makes a new one (part of `URLSession.reset`).
  case closeIdleConnections(SessionID)
  /// Forgets what the session has learnt of hosts (part of `URLSession.reset`). Its storages are emptied by themselves.
  case forgetHosts(SessionID)
  /// Writes to disk what is to be there (part of `URLSession.flush`).
  case writeCache(SessionID)
  /// Has something done on a helper thread; `Event.performed` is its end.
  case perform(TaskID, any HelperWork)
  /// Has the keyring know what the storage wants kept there; then, where a pattern is given, the storage know what is
  /// kept for its host. `Event.keyringUsed` with the number says that it is done.
  case useKeyring(CredentialStorage, SpacePattern?, waiter: Int)
}

/// Answers to the events that make a task wait.
public enum Answer {
  /// To `Event.willRedirect`.
  case redirect(RedirectAnswer)
  /// To `Event.response`.
  case response(ResponseDisposition)
  /// To `Event.challenge`.
  case challenge(ChallengeAnswer)
  /// To `Event.data`: the consumer is done with that piece and may be given the next.
  case dataConsumed
  /// To `Event.needsBodyChunk`: the next piece, `nil` at the end of the body.
  case bodyChunk(Bytes?)
  /// To `Event.needsBodyChunk`: the reader failed; the task ends with this error.
  case bodyFailed(TaskError)
  /// To `Event.needsBodyStream`: a fresh body, or `nil` when there is none to be had
  /// (the task then fails with `request_body_stream_exhausted`).
  case newBody(RequestBody?)
  /// To `Event.willCache`: what to store, `nil` for nothing.
  case cache(CachedResponse?)
  /// To `Event.needsLoader`.
  case loader(Loader)
  /// After `.loader(.script)`: how far the load has come.
  case load(LoadStep)
}

/// Who makes a request.
public enum Loader {
  /// The core.
  case network
  /// The layer above, which says what comes by `Answer.load`.
  case script
}

public enum RedirectAnswer {
  /// Go on with the request the core proposed.
  case followProposed
  /// Go on with another one. The rules on credentials across origins are applied to it too,
  /// unless the caller changed the fields itself.
  case follow(Request)
  /// The 3xx is the response, its body included.
  case refuse
}

/// `URLSession.ResponseDisposition`. What a task becomes keeps its number.
public enum ResponseDisposition {
  case allow
  case cancel
  /// The body goes to a file, as with `Destination.download`.
  case becomeDownload
  /// The connection becomes a stream (`Command.stream`): after 101 and what is like it; else the task fails.
  case becomeStream
}
