/// What the dispatcher of the standard library (`http.dispatch`) gets as its first argument. The same numbers stand
/// in stdlib/http/events.lua.
enum EventKind: Int {
  case completed = 1
  case timer = 2
  case redirect = 3
  case informational = 4
  case response = 5
  case data = 6
  case sent = 7
  case progress = 8
  case bodyChunk = 9
  case bodyStream = 10
  case sessionInvalidated = 11
  /// The script is to end: cancel everything.
  case stop = 12
  /// Nothing is left to do.
  case finish = 13
  case challenge = 14
  /// A request that a protocol class may make.
  case loader = 16
  case loadDrained = 17
  /// A response is to be stored.
  case willCache = 20
  case waitingForConnectivity = 18
  case finishedDownloading = 24
  case streamRead = 30
  case streamWritten = 31
  case streamClosed = 32
  case streamCaptured = 33
  case webSocketOpened = 34
  case webSocketMessage = 35
  case webSocketDone = 36
  case webSocketClosed = 37
  case resumed = 25
  case resumeData = 26
  case keyringUsed = 27
}
