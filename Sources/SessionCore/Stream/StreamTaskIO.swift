/// The bytes: from the link to those who read, from those who write to the link.
extension StreamTask: StreamLinkOwner {
  func linkReceived(_ bytes: UnsafeRawBufferPointer) {
    if tls != nil { return receiveSecure(bytes) }
    take(bytes)
    perform(machine.handle(.received(available: inbox.count)))
  }

  /// Keeps bytes for those who read.
  func take(_ bytes: UnsafeRawBufferPointer) {
    totalRead += bytes.count
    if !inbox.append(bytes) { fail(TaskError(.dataLengthExceedsMaximum, "no memory for what is received")) }
  }

  func linkEnded() {
    hasLinkEnded = true
    if tls != nil, !hasTLSEnded { return endedInsideTLS() }
    perform(machine.handle(.inputEnded))
  }

  func linkFailed(_ error: TaskError) {
    if isEnding { return complete() }
    fail(tls?.lossError ?? error)
  }

  func linkSent() {
    didSend = true
    if !isPumping { pump() }
  }

  /// Moves bytes of the write under way to the link, as far as it takes them.
  func pump() {
    guard !isPumping, !isSuspended, link != nil else { return }
    isPumping = true
    // A reader that is always faster must not keep the loop here: then the link says when it goes on.
    var rounds = 16
    repeat {
      rounds -= 1
      didSend = false
      fillOutput()
      if linkOutput.count > 0 { link?.push() }
      if let current, linkOutput.count == 0, isHanded(current) { finishWrite() }
    } while didSend && rounds > 0 && !machine.isClosed
    isPumping = false
    if shutsDown, linkOutput.count == 0 {
      shutsDown = false
      link?.shutDownOutput()
    }
    endIfDrained()
    update()
  }

  private func finishWrite() {
    current = nil
    perform(machine.handle(.sent))
    didSend = true
  }

  private func isHanded(_ operation: Int) -> Bool {
    guard let write = writes[operation] else { return true }
    return write.offset >= write.bytes.count
  }

  private func fillOutput() {
    guard let current, var write = writes[current] else { return }
    while linkOutput.count < Self.pieceSize, write.offset < write.bytes.count {
      let count = min(Self.pieceSize - linkOutput.count, write.bytes.count - write.offset)
      let piece = UnsafeRawBufferPointer(rebasing: write.bytes.buffer[write.offset..<(write.offset + count)])
      if let tls {
        if let problem = tls.write(piece) { return fail(problem) }
        tls.drain(into: linkOutput)
      } else if !linkOutput.append(piece) {
        return fail(TaskError(.dataLengthExceedsMaximum, "no memory for what is sent"))
      }
      write.offset += count
      totalWritten += count
    }
    writes[current] = write
  }

  func shutDownInput() {
    inbox.removeAll()
    link?.shutDownInput()
  }

  func shutDownOutput() {
    if let tls {
      tls.close()
      tls.drain(into: linkOutput)
    }
    shutsDown = true
    pump()
  }

  private var hasOutput: Bool { linkOutput.count > 0 || current.map { !isHanded($0) } ?? false }

  /// Tells the link what is wanted of it, and the clock what is due.
  func update() {
    guard !machine.isClosed || isEnding else { return }
    if let loss, !reads.isEmpty { return fail(loss) }
    let wantsInput = !hasLinkEnded && machine.wantsInput(limit: Self.pieceSize)
    link?.want(input: wantsInput && !isSuspended, output: hasOutput && !isSuspended)
    updateClock()
  }
}
