/// A task's state of authentication; made when it is first needed.
final class TransferAuth {
  /// One that asks for credentials: the server, or the proxy on the way to it.
  struct Party {
    var exchange = AuthExchange()
    /// What goes along with requests.
    var answer = AuthAnswer.none
    /// The credentials of the task's options, of its URL or the proxy's have been tried.
    var hasTriedOwn = false
    /// The answer is the task's own, and holds for the whole origin.
    var isOwn = false
    /// Who has been asked for the storage.
    var asked: [CredentialStorage.Source] = []
    /// The credentials went along because they had been accepted before.
    var isAnticipated = false
  }

  var server = Party()
  var proxy = Party()
  /// Whose challenge a handler is being asked about.
  var asksProxy = false
  /// libcurl's handle has kept a nonce that an earlier task got; it may have become too old.
  var hasOldNonce = false
  /// The head of the proxy's answer to CONNECT.
  var tunnel = ResponseIntake()
  /// That answer is being judged: no tunnel without credentials.
  var isTunnelRefused = false
  /// The request goes out without its body, to be asked for credentials first.
  var isProbing = false
  var hasProbed = false

  /// For another server: nothing of what was said to the last one holds.
  func leaveOrigin() { server = Party() }

  /// For another request to the same server.
  func leavePlace() {
    let old = server
    server = Party()
    guard old.isOwn else { return }
    server.answer = old.answer
    server.isOwn = true
  }

  subscript(proxy isProxy: Bool) -> Party {
    get { isProxy ? proxy : server }
    set { if isProxy { proxy = newValue } else { server = newValue } }
  }
}
