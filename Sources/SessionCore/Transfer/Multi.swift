import CCurlShim

/// One of libcurl's multi handles: a set of transfers that share connections.
final class Multi {
  let handle: UnsafeMutableRawPointer
  let poller: Poller
  /// Its number with the poller.
  let index: Int32
  /// When libcurl wants to be called again, in seconds of `MonotonicClock`.
  private(set) var timerDeadline: Double?
  /// Transfers under way.
  private(set) var running = 0
  /// No new transfers: it goes when those under way are over.
  var isRetired = false
  /// libcurl has worked, and may have something to tell.
  private(set) var hasWorked = false

  /// `connections`: how many are kept when idle. (libcurl's own limit sinks with the number of handles in use, and
  /// would close most of a pool at the end of each burst.)
  init?(poller: Poller, index: Int32, connections: Int) {
    guard let handle = curl_multi_init() else { return nil }
    self.handle = handle
    self.poller = poller
    self.index = index
    hs_multi_set_long(handle, CURLMOPT_MAXCONNECTS, connections)
    hs_multi_set_callbacks(handle, Multi.socketWanted, Multi.timerWanted, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { curl_multi_cleanup(handle) }

  func add(_ easy: CurlHandle) -> Bool {
    guard curl_multi_add_handle(handle, easy.curl) == CURLM_OK else { return false }
    running += 1
    return true
  }

  func remove(_ easy: CurlHandle) {
    curl_multi_remove_handle(handle, easy.curl)
    running -= 1
  }

  /// Lets libcurl work on a descriptor.
  func act(on descriptor: Int32, events: UInt8) {
    var mask: Int32 = 0
    if events & UInt8(HS_READABLE) != 0 { mask |= CURL_CSELECT_IN }
    if events & UInt8(HS_WRITABLE) != 0 { mask |= CURL_CSELECT_OUT }
    if events & UInt8(HS_FAILED) != 0 { mask |= CURL_CSELECT_ERR }
    hasWorked = true
    var left: Int32 = 0
    curl_multi_socket_action(handle, descriptor, mask, &left)
  }

  /// Whether libcurl wants to be called by now.
  func isDue(now: Double) -> Bool {
    guard let deadline = timerDeadline else { return false }
    return deadline <= now
  }

  /// Lets libcurl do what it wanted to do by now. False when there was nothing.
  func actOnTimer(now: Double) -> Bool {
    guard isDue(now: now) else { return false }
    timerDeadline = nil
    hasWorked = true
    var left: Int32 = 0
    // CURL_SOCKET_TIMEOUT
    curl_multi_socket_action(handle, -1, 0, &left)
    return true
  }

  /// The next transfer that is over, and how it ended.
  func nextEnded() -> (CurlHandle, CURLcode)? {
    guard hasWorked else { return nil }
    var left: Int32 = 0
    while let message = curl_multi_info_read(handle, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let curl = message.pointee.easy_handle else { continue }
      let result = hs_message_result(message)
      var context: UnsafePointer<CChar>?
      hs_easy_get_string(curl, CURLINFO_PRIVATE, &context)
      guard let context else { continue }
      let pointer = UnsafeRawPointer(context)
      return (Unmanaged<CurlHandle>.fromOpaque(pointer).takeUnretainedValue(), result)
    }
    hasWorked = false
    return nil
  }

  private static let socketWanted: curl_socket_callback = { easy, descriptor, what, context, _ in
    guard let context else { return 0 }
    Unmanaged<Multi>.fromOpaque(context)._withUnsafeGuaranteedRef { multi in
      // CURL_POLL_IN, _OUT and _INOUT are the bits; _REMOVE is 4.
      let events = what == CURL_POLL_REMOVE ? 0 : UInt8(what & 3)
      multi.poller.want(descriptor, events: events, owner: multi.index, user: easy)
    }
    return 0
  }

  private static let timerWanted: curl_multi_timer_callback = { _, milliseconds, context in
    guard let context else { return 0 }
    Unmanaged<Multi>.fromOpaque(context)._withUnsafeGuaranteedRef { multi in
      multi.timerDeadline = milliseconds < 0 ? nil : MonotonicClock.now + Double(milliseconds) * 1e-3
    }
    return 0
  }
}
