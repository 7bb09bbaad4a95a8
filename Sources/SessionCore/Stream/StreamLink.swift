/// What carries a stream's bytes: a socket of its own, or a transfer whose connection has changed its protocol.
protocol StreamLink: AnyObject {
  /// What is of use now: bytes from the other side, and room for bytes to it. May be called at any time.
  func want(input: Bool, output: Bool)
  /// There are bytes to be sent: sends what can be sent at once.
  func push()
  /// Nothing more will be sent (TCP's half close, where the link has one).
  func shutDownOutput()
  /// What comes is of no interest any more.
  func shutDownInput()
  /// A new connection would be made another way by now.
  var hasOtherRoute: Bool { get }
  /// Lets go of the connection. The owner hears nothing more.
  func close()
}

/// Whom a link serves. Links call it from the loop, never while libcurl is on the stack.
protocol StreamLinkOwner: AnyObject {
  /// Bytes to be sent. The link takes from their start what it could send, at any time, and then says `linkSent`.
  var linkOutput: Bytes { get }
  func linkSent()
  func linkReceived(_ bytes: UnsafeRawBufferPointer)
  /// The other side sends no more.
  func linkEnded()
  func linkFailed(_ error: TaskError)
}
