import CCurlShim

/// Pauses: who holds libcurl back, what is given back to the system meanwhile, and the windows of HTTP/2 streams.
extension Transfer {
  /// Makes libcurl pause or go on in each direction, as things now stand.
  func updatePause() {
    if load != nil { return queueLoad() }
    guard isAttached, let easy, !core.isInsideLibcurl else { return }
    var mask: Int32 = 0
    if isSuspended || isHoldingBody || sink.isWaitedFor || receiving?.isWaiting == true { mask |= CURLPAUSE_RECV }
    if isSuspended || isWaitingForChunk || sending?.isWaiting == true { mask |= CURLPAUSE_SEND }
    // Pausing one direction alone makes libcurl read once more.
    if isRaw, bodyMode == .hold { mask = CURLPAUSE_RECV | CURLPAUSE_SEND }
    if source == nil, mask != 0 {
      mask = pauseMask & CURLPAUSE_RECV != 0 ? pauseMask : CURLPAUSE_RECV | CURLPAUSE_SEND
    }
    guard mask != pauseMask else { return }
    let before = pauseMask
    pauseMask = mask
    takenBytes = nil
    if bodyMode == .deliver, !sink.isConsumer {
      isStreamWide = true
      hs_set_stream_window(StreamWindow.wide)
    } else {
      hs_set_stream_window(StreamWindow.narrow)
    }
    isLettingGoOn = true
    let result = core.insideLibcurl { curl_easy_pause(easy.curl, mask) }
    isLettingGoOn = false
    if result == CURLE_BAD_FUNCTION_ARGUMENT {
      // There is no connection yet, or no more: the callbacks pause what they are called for.
      pauseMask = before
      return
    }
    // What was held back has been refused just now; libcurl says so here and nowhere else.
    if result != CURLE_OK { transferEnded(result) }
  }

  private var isHoldingBody: Bool {
    bodyMode == .hold && intake.isHeadComplete && !intake.isInterim && !takesRefusal
  }

  func pauseReceiving() -> Int {
    releaseSendBuffer()
    pauseMask |= CURLPAUSE_RECV
    return Callbacks.pause
  }

  /// An HTTP/2 stream's window sees to it that libcurl has little to keep.
  var pausesFromWithin: Bool { load == nil && core.isInsideLibcurl && intake.httpVersion != "2" }

  /// Pauses while libcurl delivers what has just been taken. Were the next piece refused instead, libcurl would have read
  /// it, and would keep it.
  func pauseFromWithin(taken bytes: UnsafeRawBufferPointer) {
    guard isAttached, let easy, pauseMask & CURLPAUSE_RECV == 0 else { return }
    pauseMask = source == nil ? CURLPAUSE_RECV | CURLPAUSE_SEND : pauseMask | CURLPAUSE_RECV
    // Such a pause cannot fail: it sets two bits, and gives nothing out.
    _ = curl_easy_pause(easy.curl, pauseMask)
    if CurlLibrary.hasBufferPerHandle, !isLettingGoOn { takenBytes = bytes }
    releaseSendBuffer()
    updateClock()
  }

  /// What the transfer does not need while it waits. Its buffer of libcurl's has nothing but what has been delivered.
  func giveMemoryBack() {
    core.trimSoon()
    guard let takenBytes else { return }
    self.takenBytes = nil
    hs_release_pages(takenBytes.baseAddress, takenBytes.count)
  }

  /// What libcurl has sent a request without a body from, through TLS of its own connection: nothing needs it any more.
  private func releaseSendBuffer() {
    guard !hasReleasedSendBuffer, let easy, let host else { return }
    hasReleasedSendBuffer = true
    if source == nil, host.isSecure, requestsBegun == 1, host.proxy.isNone { easy.releaseSendBuffer() }
  }

  /// The consumer has had its chance to be done with its piece at once, and is not, or is about to be given one:
  /// libcurl need not read what could only be kept.
  func holdBack() {
    guard isAttached, !machine.isComplete, sink.holdBack() else { return }
    updatePause()
    if sink.isConsumerBusy { giveMemoryBack() }
    updateClock()
  }

  /// A body that is taken as fast as it comes, and may be long, has its HTTP/2 stream widened once.
  func noteLongBody() {
    isStreamWide = true
    guard !sink.isConsumer, intake.httpVersion == "2", CurlLibrary.narrowsStreams else { return }
    isWideningDue = true
    queueFlush()
  }

  /// libcurl sets a stream's window at the end of a pause only.
  func widenStream() {
    isWideningDue = false
    guard isAttached, let easy, pauseMask == 0 else { return }
    hs_set_stream_window(StreamWindow.wide)
    let result = core.insideLibcurl {
      curl_easy_pause(easy.curl, CURLPAUSE_RECV)
      return curl_easy_pause(easy.curl, 0)
    }
    if result != CURLE_OK { transferEnded(result) }
  }
}
