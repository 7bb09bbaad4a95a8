import Testing

@testable import SessionCore

@Suite("The task machine")
struct TaskMachineTests {
  private typealias Event = TaskMachine.Event
  private typealias Action = TaskMachine.Action

  /// Whole lives, as events and the actions they must give.
  private static let lives: [(name: String, steps: [(Event, Action)])] = [
    (
      "plain",
      [
        (.turnGranted, .attach), (.head(.final), .receiveBody),
        (.ended(.success(undelivered: false, settles: false)), .complete(success: true)),
      ]
    ),
    (
      "a body that is asked for first",
      [
        (.bodyMissing, .askBody), (.turnGranted, .none), (.newBody(available: true), .nextRequest),
        (.turnGranted, .attach), (.bodyMissing, .none), (.head(.final), .receiveBody),
      ]
    ),
    ("a body that nobody has", [(.bodyMissing, .askBody), (.newBody(available: false), .failForBody)]),
    (
      "a request that the layer above may make itself",
      [
        (.loaderWanted, .askLoader), (.loaderChosen, .enqueue), (.turnGranted, .attach), (.head(.final), .receiveBody),
        (.ended(.success(undelivered: false, settles: false)), .complete(success: true)),
      ]
    ),
    (
      "followed redirect",
      [
        (.turnGranted, .attach), (.head(.redirect(needsBody: false)), .discardBody), (.ended(.failure), .nextRequest),
        (.turnGranted, .attach), (.head(.final), .receiveBody),
        (.ended(.success(undelivered: false, settles: false)), .complete(success: true)),
      ]
    ),
    (
      "redirect that needs a new body",
      [
        (.turnGranted, .attach), (.head(.again(needsBody: true)), .discardBody),
        (.ended(.success(undelivered: false, settles: false)), .askBody), (.newBody(available: true), .nextRequest),
        (.turnGranted, .attach), (.ended(.bodyLost), .askBody), (.newBody(available: false), .failForBody),
      ]
    ),
    (
      "redirect handler answers before the transfer ends",
      [
        (.turnGranted, .attach), (.head(.redirectAsking), .askRedirect),
        (.redirectAnswered(.follow(needsBody: false)), .discardBody), (.ended(.failure), .nextRequest),
      ]
    ),
    (
      "redirect handler answers after it",
      [
        (.turnGranted, .attach), (.head(.redirectAsking), .askRedirect),
        (.ended(.success(undelivered: false, settles: false)), .none),
        (.redirectAnswered(.follow(needsBody: true)), .askBody),
      ]
    ),
    (
      "a stream",
      [
        (.turnGranted, .attach), (.head(.finalAsking), .askResponse), (.responseBecomesStream, .becomeStream),
        (.ended(.failure), .none), (.streamEnded(success: true), .complete(success: true)),
      ]
    ),
    (
      "a WebSocket that is lost",
      [
        (.turnGranted, .attach), (.head(.stream), .becomeStream),
        (.streamEnded(success: false), .complete(success: false)),
      ]
    ),
    (
      "a stream wanted of a response that is over",
      [
        (.turnGranted, .attach), (.head(.finalAsking), .askResponse),
        (.ended(.success(undelivered: false, settles: false)), .none),
        (.responseBecomesStream, .becomeStream), (.failed, .complete(success: false)),
      ]
    ),
    (
      "refused redirect, to a file",
      [
        (.turnGranted, .attach), (.head(.redirectAsking), .askRedirect),
        (.redirectAnswered(.refuse(asks: false)), .receiveBody),
        (.ended(.success(undelivered: false, settles: true)), .settleFile),
        (.settled(success: true), .complete(success: true)),
      ]
    ),
    (
      "refused redirect without a body",
      [
        (.turnGranted, .attach), (.head(.redirectAsking), .askRedirect),
        (.ended(.success(undelivered: false, settles: false)), .none),
        (.redirectAnswered(.refuse(asks: false)), .receiveNothing),
        (.ended(.success(undelivered: false, settles: false)), .complete(success: true)),
      ]
    ),
    (
      "refused redirect about which is asked as a response",
      [
        (.turnGranted, .attach), (.head(.redirectAsking), .askRedirect),
        (.redirectAnswered(.refuse(asks: true)), .askResponse), (.responseAnswered(allow: true), .receiveBody),
        (.ended(.success(undelivered: false, settles: false)), .complete(success: true)),
      ]
    ),
    (
      "no network, then one",
      [
        (.turnGranted, .attach), (.ended(.unconnected), .awaitNetwork), (.networkChanged, .nextRequest),
        (.turnGranted, .attach), (.ended(.unconnected), .awaitNetwork), (.networkChanged, .nextRequest),
        (.turnGranted, .attach), (.ended(.failure), .complete(success: false)),
      ]
    ),
    (
      "asked response, slow consumer",
      [
        (.turnGranted, .attach), (.head(.finalAsking), .askResponse), (.responseAnswered(allow: true), .receiveBody),
        (.ended(.success(undelivered: true, settles: false)), .none), (.consumed, .complete(success: true)),
      ]
    ),
    (
      "challenge answered with credentials",
      [
        (.turnGranted, .attach), (.head(.challengeAsking), .askChallenge),
        (.challengeAnswered(.follow(needsBody: false)), .discardBody), (.ended(.failure), .nextRequest),
        (.turnGranted, .attach), (.head(.final), .receiveBody),
        (.ended(.success(undelivered: false, settles: false)), .complete(success: true)),
      ]
    ),
    (
      "challenge answered after the transfer, with a body that must be had anew",
      [
        (.turnGranted, .attach), (.head(.challengeAsking), .askChallenge),
        (.ended(.success(undelivered: false, settles: false)), .none),
        (.challengeAnswered(.askNext), .askChallenge), (.challengeAnswered(.follow(needsBody: true)), .askBody),
        (.newBody(available: true), .nextRequest),
      ]
    ),
    (
      "challenge nobody answers, and a handler is asked about the response",
      [
        (.turnGranted, .attach), (.head(.challengeAsking), .askChallenge),
        (.challengeAnswered(.deliver(asking: true)), .askResponse), (.responseAnswered(allow: true), .receiveBody),
        (.ended(.success(undelivered: false, settles: false)), .complete(success: true)),
      ]
    ),
    (
      "challenge nobody answers, of a response without a body",
      [
        (.turnGranted, .attach), (.head(.challengeAsking), .askChallenge),
        (.ended(.success(undelivered: false, settles: false)), .none),
        (.challengeAnswered(.deliver(asking: false)), .receiveNothing),
        (.ended(.success(undelivered: false, settles: false)), .complete(success: true)),
      ]
    ),
    (
      "challenge of a connection, answered",
      [
        (.turnGranted, .attach), (.ended(.challenged), .askChallenge),
        (.challengeAnswered(.follow(needsBody: false)), .nextRequest), (.turnGranted, .attach),
        (.ended(.challenged), .askChallenge), (.challengeAnswered(.deliver(asking: true)), .complete(success: false)),
      ]
    ),
    (
      "refused response",
      [
        (.turnGranted, .attach), (.head(.finalAsking), .askResponse),
        (.responseAnswered(allow: false), .refuseResponse),
      ]
    ),
    (
      "response without a body, over while the handler thinks",
      [
        (.turnGranted, .attach), (.head(.finalAsking), .askResponse),
        (.ended(.success(undelivered: false, settles: false)), .none),
        (.responseAnswered(allow: true), .receiveNothing),
        (.ended(.success(undelivered: false, settles: true)), .settleFile),
      ]
    ),
    (
      "connection lost while the handler thinks",
      [
        (.turnGranted, .attach), (.head(.finalAsking), .askResponse), (.ended(.failure), .complete(success: false)),
        (.responseAnswered(allow: true), .none),
      ]
    ),
    (
      "a response without a body, while a handler thinks",
      [
        (.turnGranted, .attach), (.head(.finalAsking), .askResponse),
        (.ended(.success(undelivered: false, settles: false)), .none),
        (.responseAnswered(allow: true), .receiveNothing),
        (.ended(.success(undelivered: false, settles: false)), .complete(success: true)),
      ]
    ),
    (
      "a download that goes on in two requests",
      [
        (.inspectionWanted, .inspectFile), (.turnGranted, .none), (.inspected, .nextRequest),
        (.turnGranted, .attach), (.inspected, .none), (.head(.final), .receiveBody),
        (.ended(.incomplete), .nextRequest),
        (.turnGranted, .attach), (.head(.final), .receiveBody),
        (.ended(.success(undelivered: false, settles: false)), .complete(success: true)),
      ]
    ),
    (
      "file that cannot be synced",
      [
        (.turnGranted, .attach), (.head(.final), .receiveBody),
        (.ended(.success(undelivered: false, settles: true)), .settleFile),
        (.settled(success: false), .complete(success: false)),
      ]
    ),
  ]

  /// What leads to a failure that keeps what has come.
  private static let failures: [[(Event, Action)]] = [
    [(.turnGranted, .attach), (.head(.final), .receiveBody), (.ended(.interrupted), .keepFile)],
    [(.turnGranted, .attach), (.head(.final), .receiveBody), (.failedKeeping, .keepFile)],
    [(.turnGranted, .attach), (.head(.finalAsking), .askResponse), (.ended(.interrupted), .keepFile)],
    [(.turnGranted, .attach), (.head(.redirectAsking), .askRedirect), (.failedKeeping, .keepFile)],
    [(.inspectionWanted, .inspectFile), (.inspected, .nextRequest), (.failedKeeping, .keepFile)],
  ]

  @Test("A failure that keeps what has come ends when that is done, and not before", arguments: failures.indices)
  func keeping(index: Int) {
    var machine = TaskMachine()
    for (event, action) in Self.failures[index] { #expect(machine.handle(event) == action) }
    let late: [Event] = [
      .failed, .failedKeeping, .turnGranted, .head(.final), .ended(.failure), .ended(.interrupted), .inspected,
      .settled(success: true), .consumed, .newBody(available: true), .responseAnswered(allow: true), .bodyMissing,
    ]
    for event in late { #expect(machine.handle(event) == .none) }
    #expect(!machine.isComplete && !machine.isOnTheClock)
    #expect(machine.handle(.kept) == .complete(success: false))
    #expect(machine.handle(.kept) == .none)
  }

  @Test("Where nothing has come, there is nothing to keep")
  func nothingToKeep() {
    var machine = TaskMachine()
    _ = machine.handle(.inspectionWanted)
    #expect(machine.handle(.failedKeeping) == .complete(success: false))
    #expect(machine.handle(.kept) == .none)
  }

  @Test("Each life takes its course", arguments: lives.indices)
  func life(index: Int) {
    let life = Self.lives[index]
    var machine = TaskMachine()
    for (event, action) in life.steps { #expect(machine.handle(event) == action, "\(life.name): \(event)") }
  }

  @Test("A cancellation at every point ends it once, and nothing after it has a meaning", arguments: lives.indices)
  func cancelEverywhere(index: Int) {
    let life = Self.lives[index]
    for length in 0...life.steps.count {
      var machine = TaskMachine()
      for (event, _) in life.steps.prefix(length) { _ = machine.handle(event) }
      let wasComplete = machine.isComplete
      #expect(machine.handle(.failed) == (wasComplete ? .none : .complete(success: false)))
      #expect(machine.isComplete && !machine.isOnTheClock)
      for (event, _) in life.steps { #expect(machine.handle(event) == .none, "\(life.name): \(event) after the end") }
    }
  }

  @Test("The clock runs only while there is a connection and nobody is waited for")
  func clock() {
    var machine = TaskMachine()
    #expect(!machine.isOnTheClock)
    _ = machine.handle(.turnGranted)
    #expect(machine.isOnTheClock)
    _ = machine.handle(.head(.redirectAsking))
    #expect(!machine.isOnTheClock)
    _ = machine.handle(.redirectAnswered(.follow(needsBody: false)))
    #expect(machine.isOnTheClock)
    _ = machine.handle(.ended(.failure))
    #expect(!machine.isOnTheClock)
  }

  @Test("Answers nobody asked for change nothing")
  func strayAnswers() {
    var machine = TaskMachine()
    let strays: [Event] = [
      .redirectAnswered(.refuse(asks: false)), .responseAnswered(allow: false), .newBody(available: false), .consumed,
      .settled(success: false), .head(.final), .ended(.failure), .challengeAnswered(.askNext),
      .challengeAnswered(.deliver(asking: false)), .challengeAnswered(.follow(needsBody: true)),
      .loaderChosen, .networkChanged,
    ]
    for stray in strays { #expect(machine.handle(stray) == .none) }
    #expect(machine.handle(.turnGranted) == .attach)
    #expect(machine.handle(.turnGranted) == .none)
  }
}
