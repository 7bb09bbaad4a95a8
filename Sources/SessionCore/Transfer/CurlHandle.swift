import CCurlShim
import Glibc

/// One of libcurl's easy handles, and what every one of ours is set to. Those who use them differ in what they do when
/// the multi handle says that a transfer is over.
class CurlHandle {
  final let curl: UnsafeMutableRawPointer
  /// Text of the last error; filled by libcurl.
  final let errorBuffer: UnsafeMutablePointer<CChar>
  /// Of the response that is coming.
  final let head: UnsafeMutablePointer<hs_head>
  /// Those of its last connection.
  final private(set) var ends: ConnectionEnds?

  init?() {
    guard let handle = curl_easy_init() else { return nil }
    curl = handle
    head = .allocate(capacity: 1)
    head.initialize(to: hs_head())
    errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    hs_easy_set_pointer(curl, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
    hs_easy_set_pointer(curl, CURLOPT_ERRORBUFFER, errorBuffer)
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_NOPROGRESS, 1)
    set(CURLOPT_TCP_NODELAY, 1)
    set(CURLOPT_QUICK_EXIT, 1)
    // To a proxy of SOCKS, libcurl would offer the user's Kerberos ticket too, which nobody has asked for.
    set(CURLOPT_SOCKS5_AUTH, AuthScheme.basic.rawValue)
    // The session's own timeouts rule; libcurl's default of five minutes must not.
    set(CURLOPT_CONNECTTIMEOUT_MS, 24 * 24 * 3600 * 1000)
  }

  deinit {
    // What the callbacks need is gone already; nothing of a transfer is left to be told.
    curl_easy_cleanup(curl)
    errorBuffer.deallocate()
    free(head.pointee.fields)
    head.deallocate()
  }

  /// libcurl is done with it. Called from the loop, never while libcurl is on the stack.
  func ended(_ result: CURLcode) {}

  final var errorText: String { String(cString: errorBuffer) }

  final func set(_ option: CURLoption, _ value: Int) { hs_easy_set_long(curl, option, value) }

  /// False: it keeps what it was set to.
  @discardableResult
  final func set(_ option: CURLoption, _ value: String?) -> Bool {
    let code = if let value { hs_easy_set_string(curl, option, value) } else { hs_easy_set_string(curl, option, nil) }
    return code == CURLE_OK
  }

  final func set(_ option: CURLoption, octets: Octets) {
    (octets.bytes + [0]).withUnsafeBufferPointer { text in
      _ = text.withMemoryRebound(to: CChar.self) { hs_easy_set_string(curl, option, $0.baseAddress) }
    }
  }

  final func long(_ info: CURLINFO) -> Int {
    var value = 0
    hs_easy_get_long(curl, info, &value)
    return value
  }

  /// What libcurl knows of the request that is over.
  final func facts() -> hs_facts {
    var facts = hs_facts()
    hs_easy_get_facts(curl, &facts)
    if ends?.areThose(of: facts) != true { ends = ConnectionEnds(facts) }
    return facts
  }
}

extension ConnectionEnds {
  fileprivate convenience init(_ facts: hs_facts) {
    self.init(
      localAddress: facts.local_address.map { String(cString: $0) } ?? "", localPort: facts.local_port,
      remoteAddress: facts.remote_address.map { String(cString: $0) } ?? "", remotePort: facts.remote_port)
  }

  /// Most requests go over the connection of the one before.
  fileprivate func areThose(of facts: hs_facts) -> Bool {
    localPort == facts.local_port && remotePort == facts.remote_port
      && Self.equal(localAddress, facts.local_address) && Self.equal(remoteAddress, facts.remote_address)
  }

  private static func equal(_ text: String, _ characters: UnsafePointer<CChar>?) -> Bool {
    guard let characters else { return text.isEmpty }
    return text.withCString { strcmp($0, characters) == 0 }
  }
}
