/// What the machine is told, and what it answers.
extension TaskMachine {
  enum Event {
    /// The session's limits allow the task to begin (or to go on with the next request).
    case turnGranted
    /// The layer above may make the request itself (protocol classes).
    case loaderWanted
    /// It has said who makes it.
    case loaderChosen
    /// The head of a final response is there.
    case head(Verdict)
    case redirectAnswered(RedirectChoice)
    case challengeAnswered(ChallengeChoice)
    case responseAnswered(allow: Bool)
    /// libcurl is done with the transfer.
    case ended(Ending)
    /// An interface, address or route has come or gone.
    case networkChanged
    /// The consumer has taken everything there was.
    case consumed
    /// The body must be asked for before the first request.
    case bodyMissing
    /// The layer above gave a body to send, or none.
    case newBody(available: Bool)
    /// The layer above has said whether the response is stored.
    case cacheAnswered
    /// The helper thread is done with the file.
    case settled(success: Bool)
    /// The handler wants a stream of the response.
    case responseBecomesStream
    /// The stream is over.
    case streamEnded(success: Bool)
    /// What is on disk must be looked at before the first request.
    case inspectionWanted
    /// It has been.
    case inspected
    /// Cancelled, timed out, or a handler failed.
    case failed
    /// The same, and what has come is worth being kept.
    case failedKeeping
    /// It has been, as far as that was possible.
    case kept
  }

  /// What is to be done about a response's head.
  enum Verdict {
    /// It is the response.
    case final
    /// It is the response and a handler is asked first.
    case finalAsking
    /// It opens a stream.
    case stream
    /// It is a redirect, to be followed; `needsBody`: the request's body must be had anew for that.
    case redirect(needsBody: Bool)
    /// It is a redirect about which a handler is asked.
    case redirectAsking
    /// It asks for credentials, and so is a handler.
    case challengeAsking
    /// The same request must be made again (credentials, or without an expectation).
    case again(needsBody: Bool)
  }

  enum RedirectChoice {
    case follow(needsBody: Bool)
    /// The redirect is the response; `asks`: a handler is asked about that too.
    case refuse(asks: Bool)
  }

  enum ChallengeChoice {
    /// Make a request that answers the challenge.
    case follow(needsBody: Bool)
    /// Ask about the response's next challenge.
    case askNext
    /// The response stands; `asking`: a handler is asked about it first.
    case deliver(asking: Bool)
  }

  enum Ending {
    /// The response is whole. `undelivered`: the consumer has yet to take some. `settles`: there is a file to sync.
    /// `asksCache`: a handler decides whether it is stored.
    case success(undelivered: Bool, settles: Bool, asksCache: Bool = false)
    /// It is whole, and another request must bring the rest of the file.
    case incomplete
    /// It failed, and a stored response takes its place.
    case replaced
    case failure
    /// A failure that leaves behind what is worth being kept.
    case interrupted
    /// No connection without credentials: a handler is asked, and the failure stands unless it gives some.
    case challenged
    /// libcurl could not rewind the body; it must be had anew and the request made again.
    case bodyLost
    /// Nothing was sent for want of a network, and the task is to wait for one.
    case unconnected
  }

  enum Action: Equatable {
    case none
    /// Give the request to libcurl, or begin the load that takes its place.
    case attach
    /// Ask who makes the request.
    case askLoader
    /// Find the host, and a turn there.
    case enqueue
    /// Send the event and keep the body back.
    case askRedirect
    case askChallenge
    case askResponse
    /// Drop what is left of the body.
    case discardBody
    /// Let the body come.
    case receiveBody
    /// The transfer is over, and had no body but what is here: the response is whole once that has been taken.
    case receiveNothing
    /// Make the next request, or the same one again.
    case nextRequest
    /// Ask for a body that can be sent.
    case askBody
    /// Ask whether the response is stored.
    case askCache
    /// Say that the task waits, and have it told when the network has changed.
    case awaitNetwork
    case settleFile
    case becomeStream
    case inspectFile
    case keepFile
    /// Queue the completion; `success` false: with the error the driver knows.
    case complete(success: Bool)
    /// As `complete(success: false)`, with `cancelled` as the error: the disposition said so.
    case refuseResponse
    /// As `complete(success: false)`, with `request_body_stream_exhausted`.
    case failForBody
  }
}
