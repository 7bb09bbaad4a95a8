import Testing

@testable import SessionCore

@Suite("The stream machine")
struct StreamMachineTests {
  private typealias Event = StreamMachine.Event
  private typealias Action = StreamMachine.Action

  /// Whole lives, as events and the actions they must give.
  private static let lives: [(name: String, steps: [(Event, [Action])])] = [
    (
      "write, read to the end, half close",
      [
        (.write(id: 1), []), (.connected, [.send(id: 1)]), (.sent, [.written(id: 1)]),
        (.closeWrite, [.shutDownOutput, .tellWriteClosed]),
        (.read(id: 2, minimum: 1, maximum: 10), []),
        (.received(available: 12), [.deliver(id: 2, count: 10, atEnd: false)]),
        (.inputEnded, [.tellReadClosed]),
        (.read(id: 3, minimum: 5, maximum: 10), [.deliver(id: 3, count: 2, atEnd: true), .complete(success: true)]),
      ]
    ),
    (
      "reads are served in order and wait for their minimum",
      [
        (.connected, []), (.read(id: 1, minimum: 4, maximum: 4), []), (.read(id: 2, minimum: 1, maximum: 1), []),
        (.received(available: 3), []),
        (.received(available: 5), [.deliver(id: 1, count: 4, atEnd: false), .deliver(id: 2, count: 1, atEnd: false)]),
      ]
    ),
    (
      "a read with nothing left is at the end, and one of nothing is answered at once",
      [
        (.connected, []), (.inputEnded, [.tellReadClosed]),
        (.read(id: 1, minimum: 1, maximum: 9), [.deliver(id: 1, count: 0, atEnd: true)]),
        (.read(id: 2, minimum: 0, maximum: 9), [.deliver(id: 2, count: 0, atEnd: true)]),
      ]
    ),
    (
      "TLS waits for what was asked for before it, and what is asked for after it waits for TLS",
      [
        (.connected, []), (.write(id: 1), [.send(id: 1)]), (.read(id: 2, minimum: 1, maximum: 9), []),
        (.startSecure, []), (.write(id: 3), []), (.read(id: 4, minimum: 1, maximum: 9), []),
        (.sent, [.written(id: 1)]),
        (.received(available: 2), [.deliver(id: 2, count: 2, atEnd: false), .beginSecure]),
        (.secured, [.send(id: 3)]), (.received(available: 1), [.deliver(id: 4, count: 1, atEnd: false)]),
        (.stopSecure, []), (.sent, [.written(id: 3), .endSecure]), (.unsecured, []),
        (.startSecure, [.beginSecure]), (.failed, [.complete(success: false)]),
      ]
    ),
    (
      "closing the input takes its turn",
      [
        (.connected, []), (.read(id: 1, minimum: 1, maximum: 9), []), (.closeRead, []),
        (.read(id: 2, minimum: 1, maximum: 9), [.refuseRead(id: 2)]),
        (.received(available: 5), [.deliver(id: 1, count: 5, atEnd: false), .shutDownInput, .tellReadClosed]),
        (.closeRead, []), (.closeWrite, [.shutDownOutput, .tellWriteClosed, .complete(success: true)]),
      ]
    ),
    (
      "after the output is closed nothing is written",
      [
        (.connected, []), (.write(id: 1), [.send(id: 1)]), (.closeWrite, []), (.write(id: 2), [.refuseWrite(id: 2)]),
        (.closeWrite, []), (.sent, [.written(id: 1), .shutDownOutput, .tellWriteClosed]),
      ]
    ),
    (
      "withdrawn operations are forgotten, but not a write that has begun",
      [
        (.connected, []), (.write(id: 1), [.send(id: 1)]), (.write(id: 2), []), (.withdrawn(id: 1), []),
        (.withdrawn(id: 2), []), (.sent, [.written(id: 1)]), (.read(id: 3, minimum: 1, maximum: 9), []),
        (.withdrawn(id: 3), []), (.received(available: 4), []),
        (.read(id: 4, minimum: 1, maximum: 9), [.deliver(id: 4, count: 4, atEnd: false)]),
      ]
    ),
    (
      "streams are captured once all is done",
      [
        (.connected, []), (.read(id: 1, minimum: 1, maximum: 9), []), (.capture, []),
        (.received(available: 1), [.deliver(id: 1, count: 1, atEnd: false), .tellCaptured]),
        (.read(id: 2, minimum: 1, maximum: 9), []), (.failed, [.complete(success: false)]),
      ]
    ),
    (
      "a network is waited for, more than once",
      [
        (.networkChanged, []), (.write(id: 1), []), (.unconnected, [.awaitNetwork]), (.unconnected, []),
        (.read(id: 2, minimum: 1, maximum: 9), []), (.networkChanged, [.connect]), (.networkChanged, []),
        (.unconnected, [.awaitNetwork]), (.connected, []), (.networkChanged, [.connect]),
        (.connected, [.send(id: 1)]), (.unconnected, []), (.networkChanged, []),
        (.received(available: 1), [.deliver(id: 2, count: 1, atEnd: false)]),
      ]
    ),
  ]

  @Test(arguments: lives.indices)
  func life(_ index: Int) {
    var machine = StreamMachine()
    #expect(machine.begin() == [.connect])
    for (number, (event, actions)) in Self.lives[index].steps.enumerated() {
      #expect(machine.handle(event) == actions, "\(Self.lives[index].name), step \(number): \(event)")
    }
  }

  @Test("Where the connection has ended before, what came is read to its end, and nothing is written")
  func begunAtTheEnd() {
    var machine = StreamMachine()
    machine.beginEnded()
    #expect(machine.handle(.received(available: 3)) == [])
    #expect(machine.handle(.inputEnded) == [.tellReadClosed])
    #expect(machine.handle(.write(id: 1)) == [.refuseWrite(id: 1)])
    #expect(machine.handle(.read(id: 2, minimum: 1, maximum: 2)) == [.deliver(id: 2, count: 2, atEnd: false)])
    #expect(machine.handle(.read(id: 3, minimum: 4, maximum: 9)) == [.deliver(id: 3, count: 1, atEnd: true)])
    #expect(machine.handle(.closeWrite) == [.shutDownOutput, .tellWriteClosed, .complete(success: true)])
  }

  @Test("A failure ends every life once, at every point, and what is asked for later is refused")
  func failureEverywhere() {
    for life in Self.lives {
      for length in 0...life.steps.count {
        var machine = StreamMachine()
        _ = machine.begin()
        for (event, _) in life.steps.prefix(length) { _ = machine.handle(event) }
        let wasClosed = machine.isClosed
        #expect(machine.handle(.failed) == (wasClosed ? [] : [.complete(success: false)]), "\(life.name) \(length)")
        #expect(machine.handle(.failed) == [])
        #expect(machine.handle(.read(id: 99, minimum: 1, maximum: 1)) == [.refuseRead(id: 99)])
        #expect(machine.handle(.write(id: 99)) == [.refuseWrite(id: 99)])
        #expect(machine.handle(.sent) == [] && machine.handle(.secured) == [])
      }
    }
  }

  @Test("However the events come, each operation is answered once and completion is the last word")
  func randomOrders() {
    var generator = SeededGenerator(state: 7)
    for _ in 0..<3000 {
      var machine = StreamMachine()
      var asked: Set<Int> = []
      var answered: [Int] = []
      var completions = 0
      var next = 0
      for _ in 0..<40 {
        let event = Self.randomEvent(&generator, &next)
        if case .read(let id, _, _) = event { asked.insert(id) }
        if case .write(let id) = event { asked.insert(id) }
        for action in machine.handle(event) {
          switch action {
          case .deliver(let id, let count, _):
            #expect(count >= 0)
            answered.append(id)
          case .refuseRead(let id), .refuseWrite(let id), .written(let id): answered.append(id)
          case .complete: completions += 1
          default: break
          }
        }
      }
      #expect(Set(answered).count == answered.count)
      #expect(Set(answered).isSubset(of: asked))
      #expect(completions <= 1)
      #expect((completions == 1) == machine.isClosed)
    }
  }

  private static func randomEvent(_ generator: inout SeededGenerator, _ next: inout Int) -> Event {
    next += 1
    switch Int.random(in: 0..<16, using: &generator) {
    case 0: return .connected
    case 1, 2: return .read(id: next, minimum: Int.random(in: 0..<6, using: &generator), maximum: 8)
    case 3: return .closeRead
    case 4, 5: return .write(id: next)
    case 6: return .closeWrite
    case 7: return .startSecure
    case 8: return .stopSecure
    case 9: return .capture
    case 10: return .received(available: Int.random(in: 0..<9, using: &generator))
    case 11: return .inputEnded
    case 12: return .sent
    case 13: return Bool.random(using: &generator) ? .secured : .unsecured
    case 14: return Bool.random(using: &generator) ? .unconnected : .networkChanged
    default: return .withdrawn(id: Int.random(in: 0...next, using: &generator))
    }
  }

  @Test("Input is wanted up to a limit, and beyond it only for a read that needs more")
  func limit() {
    var machine = StreamMachine()
    #expect(!machine.wantsInput(limit: 10))
    _ = machine.handle(.connected)
    #expect(machine.wantsInput(limit: 10))
    _ = machine.handle(.received(available: 10))
    #expect(!machine.wantsInput(limit: 10))
    _ = machine.handle(.read(id: 1, minimum: 20, maximum: 20))
    #expect(machine.wantsInput(limit: 10))
    _ = machine.handle(.received(available: 20))
    _ = machine.handle(.inputEnded)
    #expect(!machine.wantsInput(limit: 10))
  }
}

/// The same numbers each time (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
