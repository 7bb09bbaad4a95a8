/// The life of a stream in both directions, without any I/O: events in, actions out.
///
/// Reads are served in the order they were asked for, writes and what changes the connection (closing, TLS) in theirs.
/// What changes the connection is a barrier: it waits for the reads asked for before it, and those asked for after it
/// wait for it. The driver (`StreamTask`) keeps the bytes; here only their number is known.
struct StreamMachine {
  enum Phase: Equatable {
    /// The connection is being made. connected → open · unconnected → unconnected · failed → closed
    case connecting
    /// There is no network to make it over, and one is waited for. networkChanged → connecting · failed → closed
    case unconnected
    /// Bytes go both ways. A barrier → securing or unsecuring · both directions ended → closed · failed → closed
    case open
    /// A TLS handshake is under way. secured → open · failed → closed
    case securing
    /// Our end of TLS is closed and the server's is waited for. unsecured → open · failed → closed
    case unsecuring
    /// The completion has been queued: the end.
    case closed
  }

  enum Event: Equatable {
    case connected
    /// No connection could be made for want of a network.
    case unconnected
    case networkChanged
    /// A read was asked for.
    case read(id: Int, minimum: Int, maximum: Int)
    case closeRead
    /// A write was asked for.
    case write(id: Int)
    case closeWrite
    case startSecure
    case stopSecure
    case capture
    /// So many bytes are there to be read now.
    case received(available: Int)
    /// No more will come.
    case inputEnded
    /// The bytes of the write under way have left.
    case sent
    /// The handshake is done, and the server trusted.
    case secured
    /// The server has closed its end of TLS; bytes are plain again.
    case unsecured
    /// A read or write is not waited for any more. (A write that has begun goes on.)
    case withdrawn(id: Int)
    /// Cancelled, timed out, or the connection was lost.
    case failed
  }

  enum Action: Equatable {
    case connect
    /// Try again when the network has changed.
    case awaitNetwork
    /// Give the read so many bytes.
    case deliver(id: Int, count: Int, atEnd: Bool)
    /// The read came after the input was closed.
    case refuseRead(id: Int)
    /// Send the bytes of a write.
    case send(id: Int)
    /// The write is done.
    case written(id: Int)
    /// The write came after the output was closed.
    case refuseWrite(id: Int)
    case shutDownInput
    case shutDownOutput
    /// Begin a handshake. Bytes that came and were not read belong to it: nothing sent in clear text may be taken for
    /// something that came through TLS.
    case beginSecure
    /// Close our end of TLS.
    case endSecure
    case tellReadClosed
    case tellWriteClosed
    /// The stream now belongs to an input and an output object.
    case tellCaptured
    /// Queue the completion; `success` false: with the error the driver knows.
    case complete(success: Bool)
  }

  private struct Read {
    let order: Int
    /// nil: close the input.
    let id: Int?
    var minimum = 0
    var maximum = 0
  }

  private struct Write {
    enum Kind: Equatable {
      case data(id: Int)
      case close
      case startSecure
      case stopSecure
      case capture
    }
    let order: Int
    let kind: Kind

    var isBarrier: Bool {
      switch kind {
      case .data, .close: false
      case .startSecure, .stopSecure, .capture: true
      }
    }
  }

  private(set) var phase = Phase.connecting
  private(set) var isSecure = false
  private var reads: [Read] = []
  private var writes: [Write] = []
  private var asked = 0
  /// Bytes that wait to be read.
  private var available = 0
  private var inputEnded = false
  private var isReadClosedTold = false
  /// `closeRead` has been asked for, and has been done.
  private var isInputClosing = false
  private var isInputClosed = false
  private var isOutputClosing = false
  private var isOutputClosed = false
  /// There is no connection to send on.
  private var isOutputLost = false
  /// The first of `writes` is under way.
  private var isSending = false

  var isClosed: Bool { phase == .closed }

  /// Whether more bytes are of use, with so many waiting. `limit`: how many are kept without being asked for.
  func wantsInput(limit: Int) -> Bool {
    switch phase {
    case .connecting, .unconnected, .closed: return false
    case .securing, .unsecuring: return true
    case .open: return !inputEnded && !isInputClosed && available < max(limit, reads.first?.minimum ?? 0)
    }
  }

  /// How the life begins.
  mutating func begin() -> [Action] { [.connect] }

  /// How it begins on a connection that is there already.
  mutating func beginConnected(isSecure: Bool) {
    phase = .open
    self.isSecure = isSecure
  }

  /// How it begins where the connection has ended already, and what has come is still to be read.
  mutating func beginEnded() {
    phase = .open
    isOutputLost = true
  }

  mutating func handle(_ event: Event) -> [Action] {
    guard phase != .closed else { return refuse(event) }
    var actions: [Action] = []
    switch event {
    case .connected: if phase == .connecting { phase = .open }
    case .unconnected:
      guard phase == .connecting else { return [] }
      phase = .unconnected
      return [.awaitNetwork]
    case .networkChanged:
      guard phase == .unconnected else { return [] }
      phase = .connecting
      return [.connect]
    case .read(let id, let minimum, let maximum):
      if isInputClosing { return [.refuseRead(id: id)] }
      reads.append(Read(order: next(), id: id, minimum: minimum, maximum: maximum))
    case .closeRead:
      if isInputClosing { return [] }
      isInputClosing = true
      reads.append(Read(order: next(), id: nil))
    case .write(let id):
      if isOutputClosing || isOutputLost { return [.refuseWrite(id: id)] }
      writes.append(Write(order: next(), kind: .data(id: id)))
    case .closeWrite:
      if isOutputClosing { return [] }
      isOutputClosing = true
      writes.append(Write(order: next(), kind: .close))
    case .startSecure: append(.startSecure)
    case .stopSecure: append(.stopSecure)
    case .capture: append(.capture)
    case .received(let count): available = isInputClosed ? 0 : count
    case .inputEnded: inputEnded = true
    case .sent: finishWrite(&actions)
    case .secured: finishBarrier(.securing, isSecure: true)
    case .unsecured: finishBarrier(.unsecuring, isSecure: false)
    case .withdrawn(let id): withdraw(id)
    case .failed: return close(success: false)
    }
    advance(&actions)
    return actions
  }

  /// After the end, what is asked for is refused and everything else of no meaning.
  private func refuse(_ event: Event) -> [Action] {
    switch event {
    case .read(let id, _, _): return [.refuseRead(id: id)]
    case .write(let id): return [.refuseWrite(id: id)]
    case .connected, .unconnected, .networkChanged, .closeRead, .closeWrite, .startSecure, .stopSecure, .capture,
      .received, .inputEnded, .sent, .secured, .unsecured, .withdrawn, .failed:
      return []
    }
  }

  private mutating func next() -> Int {
    asked += 1
    return asked
  }

  private mutating func append(_ kind: Write.Kind) { writes.append(Write(order: next(), kind: kind)) }

  private mutating func finishWrite(_ actions: inout [Action]) {
    guard isSending, case .data(let id)? = writes.first?.kind else { return }
    isSending = false
    writes.removeFirst()
    actions.append(.written(id: id))
  }

  private mutating func finishBarrier(_ expected: Phase, isSecure: Bool) {
    guard phase == expected else { return }
    phase = .open
    self.isSecure = isSecure
    writes.removeFirst()
  }

  private mutating func withdraw(_ id: Int) {
    reads.removeAll { $0.id == id }
    let first = isSending ? 1 : 0
    if let index = writes[min(first, writes.count)...].firstIndex(where: { $0.kind == .data(id: id) }) {
      writes.remove(at: index)
    }
  }

  /// Does everything that can be done now.
  private mutating func advance(_ actions: inout [Action]) {
    var isBusy = true
    while isBusy, phase == .open {
      let wrote = advanceOutput(&actions)
      isBusy = advanceInput(&actions) || wrote
    }
    tellEnd(&actions)
    guard phase == .open, isOutputClosed, isInputClosed || inputEnded && available == 0 else { return }
    guard reads.isEmpty, writes.isEmpty else { return }
    actions += close(success: true)
  }

  private mutating func tellEnd(_ actions: inout [Action]) {
    guard inputEnded || isInputClosed, !isReadClosedTold else { return }
    isReadClosedTold = true
    actions.append(.tellReadClosed)
  }

  /// True when something has changed.
  private mutating func advanceOutput(_ actions: inout [Action]) -> Bool {
    guard phase == .open, !isSending, let write = writes.first else { return false }
    if write.isBarrier, let read = reads.first, read.order < write.order { return false }
    switch write.kind {
    case .data(let id):
      isSending = true
      actions.append(.send(id: id))
      return false
    case .close:
      isOutputClosed = true
      actions += [.shutDownOutput, .tellWriteClosed]
    case .startSecure:
      if !isSecure {
        phase = .securing
        available = 0
        actions.append(.beginSecure)
        return false
      }
    case .stopSecure:
      if isSecure {
        phase = .unsecuring
        inputEnded = false
        actions.append(.endSecure)
        return false
      }
    case .capture: actions.append(.tellCaptured)
    }
    writes.removeFirst()
    return true
  }

  private mutating func advanceInput(_ actions: inout [Action]) -> Bool {
    guard phase == .open, let read = reads.first else { return false }
    if let barrier = writes.first(where: { $0.isBarrier }), barrier.order < read.order { return false }
    guard let id = read.id else {
      isInputClosed = true
      available = 0
      reads.removeFirst()
      actions.append(.shutDownInput)
      return true
    }
    guard inputEnded || available >= read.minimum else { return false }
    let count = min(available, read.maximum)
    available -= count
    reads.removeFirst()
    actions.append(.deliver(id: id, count: count, atEnd: inputEnded && available == 0))
    return true
  }

  /// Everything ends; the driver tells those that wait.
  private mutating func close(success: Bool) -> [Action] {
    phase = .closed
    reads.removeAll()
    writes.removeAll()
    return [.complete(success: success)]
  }
}
