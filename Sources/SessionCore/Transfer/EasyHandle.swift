import CCurlShim
import Glibc

/// One of libcurl's easy handles, pooled by its session and used again as it is: it remembers what it has been set to,
/// so that only differences are set.
final class EasyHandle: CurlHandle {
  let poller: Poller
  let url = URLHandle()
  /// The transfer it works for; what the callbacks speak to. The core holds it as long as it is here.
  var transfer: Unmanaged<Transfer>?
  /// Not to be used again: libcurl has learnt something (a Digest nonce, a refused expectation) that it cannot forget.
  var isTainted = false
  var generation = 0

  private static let smallestBuffer = 16 * 1024

  // What it is set to.
  /// All that one setup says; nil where something has been set otherwise since.
  private var setup: RequestSetup?
  private var hasURLText = false
  private let parsedURL = ParsedURL()
  private var headers: HeaderList?
  private var customMethod: String?
  private var shape = Shape.get
  private var bufferSize = RequestSetup.usualBuffer
  private var proxy: String?
  private var version = 0
  private var connectTo: ConnectTo?
  private var hasCredentials = false
  private var hasProxyCredentials = false
  private var waitsForPipe = false
  private var tunnels = false
  private var streamWeight = RequestSetup.usualWeight
  private var sendBufferSize = EasyHandle.smallestBuffer

  /// libcurl's kinds of request.
  enum Shape: Equatable {
    case get
    case head
    /// A body in memory, sent with the head in one go.
    case post
    /// A body from the read callback.
    case upload
  }

  init?(session: Session) {
    guard url.handle != nil else { return nil }
    poller = session.core.poller
    super.init()
    setOnce(session)
  }

  override func ended(_ result: CURLcode) { transfer?.takeUnretainedValue().transferEnded(result) }

  private func setOnce(_ session: Session) {
    Callbacks.install(on: self, core: session.core)
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    // Heads come to the body's callback too, and there first: see Transfer.acceptHeadLine.
    set(CURLOPT_HEADER, 1)
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_PROXY, "")
    set(CURLOPT_NOPROXY, "")
    proxy = ""
    set(CURLOPT_UPLOAD_BUFFERSIZE, sendBufferSize)
    hs_easy_set_pointer(curl, CURLOPT_CURLU, UnsafeMutableRawPointer(url.handle))
    session.connectionOptions.apply(to: self)
    if session.configuration.trace { Trace.install(on: curl) }
  }

  /// Sets what differs from the request before. False: libcurl does not take the proxy, and would go by another one or
  /// by none.
  func configure(_ setup: RequestSetup) -> Bool {
    errorBuffer.pointee = 0
    if setup === self.setup { return true }
    self.setup = nil
    setHeaders(setup.headers)
    setShape(setup.shape)
    if customMethod != setup.customMethod {
      customMethod = setup.customMethod
      set(CURLOPT_CUSTOMREQUEST, customMethod)
    }
    setBody(setup)
    if bufferSize != setup.bufferSize {
      bufferSize = setup.bufferSize
      set(CURLOPT_BUFFERSIZE, bufferSize)
    }
    if proxy != setup.proxy {
      guard set(CURLOPT_PROXY, setup.proxy) else { return false }
      proxy = setup.proxy
    }
    if connectTo?.text != setup.connectTo {
      connectTo = setup.connectTo.map(ConnectTo.init)
      hs_easy_set_pointer(curl, CURLOPT_CONNECT_TO, connectTo.flatMap { UnsafeMutableRawPointer($0.list.head) })
    }
    if version != setup.httpVersion {
      version = setup.httpVersion
      set(CURLOPT_HTTP_VERSION, version)
    }
    if tunnels != setup.tunnels {
      tunnels = setup.tunnels
      set(CURLOPT_HTTPPROXYTUNNEL, tunnels ? 1 : 0)
      // Of what is to become a stream, the proxy's answer is no part; else its challenges are looked for there.
      set(CURLOPT_SUPPRESS_CONNECT_HEADERS, tunnels ? 1 : 0)
    }
    if waitsForPipe != setup.waitsForPipe {
      waitsForPipe = setup.waitsForPipe
      set(CURLOPT_PIPEWAIT, waitsForPipe ? 1 : 0)
    }
    setStreamWeight(setup.streamWeight)
    if setup.body == nil { self.setup = setup }
    return true
  }

  /// HTTP/2's weight of the request's stream; libcurl tells the server of a change too.
  func setStreamWeight(_ weight: Int) {
    guard streamWeight != weight else { return }
    streamWeight = weight
    setup = nil
    set(CURLOPT_STREAM_WEIGHT, weight)
  }

  /// Gives it a URL that libcurl's parser takes as it is. Returns libcurl's code.
  func setPlainURL(_ text: String, _ look: URLLook) -> CURLUcode {
    if hasURLText, parsedURL.equals(text) { return CURLUE_OK }
    let code = parsedURL.set(text, look, in: url)
    guard code == CURLUE_OK else { return code }
    // Where libcurl repeats a request by itself, it goes by this text, and would by the last one's.
    hs_easy_set_string(curl, CURLOPT_URL, parsedURL.characters)
    hasURLText = true
    return code
  }

  /// `url` has been, or will be, given another URL.
  func forgetURL() {
    parsedURL.forget()
    hasURLText = false
    set(CURLOPT_URL, nil)
  }

  private func setHeaders(_ list: HeaderList) {
    if headers === list { return }
    hs_easy_set_pointer(curl, CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(list.head))
    headers = list
  }

  /// Leaving a shape undoes what libcurl keeps of it.
  private func setShape(_ wanted: Shape) {
    if shape == wanted { return }
    // This makes it a POST again, and so must come first.
    if shape == .post { hs_easy_set_pointer(curl, CURLOPT_POSTFIELDS, nil) }
    set(CURLOPT_HTTPGET, 1)
    sendBufferSize = wanted == .post || wanted == .upload ? 64 * 1024 : Self.smallestBuffer
    set(CURLOPT_UPLOAD_BUFFERSIZE, sendBufferSize)
    switch wanted {
    case .get: break
    case .head: set(CURLOPT_NOBODY, 1)
    case .post: set(CURLOPT_POST, 1)
    case .upload: set(CURLOPT_UPLOAD, 1)
    }
    shape = wanted
  }

  /// With TLS, libcurl keeps what it has sent the request from until the transfer is over; to be told its size makes it
  /// let go. Only for the handle's first request, and without a body.
  func releaseSendBuffer() {
    // What fits into one record has been sent either whole or not at all; the count says which.
    guard (1..<Self.smallestBuffer).contains(long(CURLINFO_REQUEST_SIZE)) else { return }
    set(CURLOPT_UPLOAD_BUFFERSIZE, sendBufferSize)
  }

  private func setBody(_ setup: RequestSetup) {
    switch setup.shape {
    case .get, .head: break
    case .post:
      let body = setup.body
      hs_easy_set_offset(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body?.count ?? 0))
      hs_easy_set_pointer(curl, CURLOPT_POSTFIELDS, body?.base ?? UnsafeMutableRawPointer(errorBuffer))
    case .upload:
      hs_easy_set_offset(curl, CURLOPT_INFILESIZE_LARGE, curl_off_t(setup.uploadLength))
    }
  }

  // MARK: Credentials

  /// Gives libcurl a name and password to make a scheme's fields of.
  func setCredentials(_ answer: AuthAnswer) {
    guard case .libcurl(let scheme, let user, let password) = answer else { return clearCredentials() }
    taint(scheme)
    hasCredentials = true
    set(CURLOPT_USERNAME, octets: user)
    set(CURLOPT_PASSWORD, octets: password)
    set(CURLOPT_HTTPAUTH, scheme.rawValue)
  }

  /// The same for the proxy, whose URL has name and password in it.
  func setProxyCredentials(_ answer: AuthAnswer) {
    guard case .libcurl(let scheme, _, _) = answer else { return clearProxyCredentials() }
    taint(scheme)
    setProxyScheme(scheme.rawValue)
  }

  /// There is a user for the proxy, though both be empty.
  private func setProxyScheme(_ scheme: Int) {
    hasProxyCredentials = true
    set(CURLOPT_PROXYUSERNAME, "")
    set(CURLOPT_PROXYAUTH, scheme)
  }

  private func taint(_ scheme: AuthScheme) {
    if scheme != .basic { isTainted = true }
  }

  /// Has libcurl look at the challenges of each response anew, and so keep the last nonce; that it does only where
  /// there is a user.
  func expectChallenges(fromProxy: Bool) {
    clearCredentials()
    hasCredentials = true
    set(CURLOPT_USERNAME, "")
    set(CURLOPT_HTTPAUTH, 0)
    if fromProxy { setProxyScheme(0) }
  }

  /// Takes the credentials away again, for a request elsewhere.
  func clearCredentials() {
    if hasCredentials {
      hasCredentials = false
      set(CURLOPT_USERNAME, nil)
      set(CURLOPT_PASSWORD, nil)
      set(CURLOPT_HTTPAUTH, 0)
    }
    clearProxyCredentials()
  }

  private func clearProxyCredentials() {
    guard hasProxyCredentials else { return }
    hasProxyCredentials = false
    set(CURLOPT_PROXYUSERNAME, nil)
    set(CURLOPT_PROXYAUTH, AuthScheme.basic.rawValue)
  }

  /// Bytes of the request's body that the system has taken, with the framing of chunks.
  var bodyBytesWritten: Int {
    var value: curl_off_t = 0
    hs_easy_get_offset(curl, CURLINFO_SIZE_UPLOAD_T, &value)
    return Int(value)
  }
}

/// Everything about a request that an easy handle is told, but for the URL. Requests that say the same may share one:
/// it is not changed once a handle has been given it.
final class RequestSetup {
  let headers: HeaderList
  let shape: EasyHandle.Shape
  /// The method where it is not the shape's own.
  var customMethod: String?
  /// The body of a `.post`; must live until the transfer ends.
  var body: Bytes?
  /// The length of an `.upload`, -1 where unknown.
  var uploadLength = -1
  var bufferSize = RequestSetup.usualBuffer
  /// With user and password; "" is none.
  var proxy = ""
  var httpVersion = 0
  var waitsForPipe = false
  /// A proxy is asked for a tunnel also without TLS.
  var tunnels = false
  /// Where to connect to in place of the URL's host, as `CURLOPT_CONNECT_TO` has it.
  var connectTo: String?
  var streamWeight = usualWeight

  init(headers: HeaderList, shape: EasyHandle.Shape) {
    self.headers = headers
    self.shape = shape
  }

  /// What libcurl reads at once; it keeps as much for each transfer under way.
  static let usualBuffer = 16 * 1024
  /// For what goes to a file.
  static let largeBuffer = 256 * 1024
  /// For each of thousands: of a larger one, a page is used all the same.
  static let smallBuffer = 2 * 1024

  /// RFC 7540 §5.3.5: what a stream has unless it says another.
  static let usualWeight = 16

  /// The weight for a priority from 0 to 1; 0.5 is the usual one.
  static func weight(priority: Double) -> Int {
    priority <= 0.5 ? 1 + Int((priority * 30).rounded()) : 16 + Int(((priority - 0.5) * 480).rounded())
  }
}

/// A list of one text, kept as long as libcurl looks at it.
private final class ConnectTo {
  let text: String
  let list = HeaderList()

  init(_ text: String) {
    self.text = text
    list.append(text)
  }
}

/// A list of header lines in libcurl's form. Shared between requests that say the same.
final class HeaderList {
  private(set) var head: UnsafeMutablePointer<curl_slist>?

  deinit { curl_slist_free_all(head) }

  func append(_ line: String) {
    if let grown = curl_slist_append(head, line) { head = grown }
  }

  /// Appends a line that ends in NUL.
  private func append(bytes: [UInt8]) {
    let grown = bytes.withUnsafeBufferPointer { line in
      line.withMemoryRebound(to: CChar.self) { curl_slist_append(head, $0.baseAddress) }
    }
    if let grown { head = grown }
  }

  /// Appends a field; an empty value is sent as an empty field.
  func append(_ field: HeaderField) {
    let blank = field.value.allSatisfy { $0 == 0x20 || $0 == 0x09 }
    guard !blank else { return append("\(field.name);") }
    append(bytes: Array("\(field.name): ".utf8) + field.value + [0])
  }
}
