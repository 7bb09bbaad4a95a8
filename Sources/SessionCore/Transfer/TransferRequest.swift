import CCurlShim
import Glibc

/// What goes out: the handle's settings and the body.
extension Transfer {
  /// Finds the queue the request belongs to. A handle is taken only when its turn has come, so that thousands may
  /// wait; a host that is known needs no parsing before. No host where a load was found instead. False when that ended
  /// the task.
  func findHost() -> Bool {
    guard lookUpHost() else { return false }
    if let hsts = session.hsts, let host, host.scheme == "http", hsts.covers(host.name, now: core.now) {
      request.url = HSTSStorage.secured(request.url)
      urlLook = URLLook(request.url)
      guard lookUpHost() else { return false }
    }
    guard let problem = host?.problem else { return true }
    fail(problem)
    return false
  }

  private func lookUpHost() -> Bool {
    let look = urlLook
    let isUsual = service == session.configuration.serviceType
    if look.isPlain, isUsual, let known = knownHost(look) {
      url = request.url
      urlCredentials = originCredentials
      host = known
      return true
    }
    if let problem = SchemeCheck.problem(with: request.url) { return findLoad(problem) }
    if let problem = parseURL(into: session.scratchURL) {
      fail(problem)
      return false
    }
    let authority =
      look.isPlain && isUsual ? String(decoding: request.url.utf8.prefix(look.authorityLength), as: UTF8.self) : nil
    host = session.host(of: session.scratchURL, authority: authority, service: service)
    if host == nil { fail(TaskError(.badURL, "a URL without a host", aboutURL: url)) }
    return host != nil
  }

  private func knownHost(_ look: URLLook) -> Host? {
    request.url.withBytes { text in
      session.knownHost(authority: UnsafeRawBufferPointer(rebasing: text[..<look.authorityLength]))
    }
  }

  /// Gives the URL to the handle that makes the request.
  func giveURL(to easy: EasyHandle) -> TaskError? {
    guard urlLook.isPlain else {
      easy.forgetURL()
      return parseURL(into: easy.url)
    }
    takePlainURL()
    return problem(easy.setPlainURL(request.url, urlLook))
  }

  /// Parses the URL, without what goes elsewhere. Nil is success.
  func parseURL(into parsed: URLHandle) -> TaskError? {
    parsed.clear()
    if let problem = problem(urlLook.isPlain ? parsed.set(request.url) : parsed.setAny(request.url)) { return problem }
    if urlLook.isPlain {
      takePlainURL()
      return nil
    }
    if let problem = takeUserInformation(parsed) { return problem }
    guard makeHostASCII(parsed) else {
      return TaskError(.badURL, "the host is no international domain name", aboutURL: url)
    }
    return nil
  }

  private func problem(_ code: CURLUcode) -> TaskError? {
    guard code != CURLUE_OK else { return nil }
    return TaskError(.badURL, "not a URL (\(String(cString: curl_url_strerror(code))))", aboutURL: request.url)
  }

  private func takePlainURL() {
    urlCredentials = originCredentials
    url = request.url
  }

  private func takeUserInformation(_ parsed: URLHandle) -> TaskError? {
    urlCredentials = originCredentials
    if let user = parsed.get(CURLUPART_USER) {
      let user = PercentEncoding.octets(user)
      let password = PercentEncoding.octets(parsed.get(CURLUPART_PASSWORD) ?? "")
      // The other control characters are encoded for Basic, and refused for what would not do that (`AuthAnswer`).
      guard !user.bytes.contains(0), !password.bytes.contains(0) else {
        return TaskError(.badURL, "NUL in the user or the password of the URL", aboutURL: request.url)
      }
      guard RequestCheck.isBasicUser(user) else {
        return TaskError(.badURL, RequestCheck.colonInUser, aboutURL: request.url)
      }
      urlCredentials = (user, password)
      _ = parsed.set(CURLUPART_USER, nil)
      _ = parsed.set(CURLUPART_PASSWORD, nil)
    }
    url = parsed.get(CURLUPART_URL) ?? request.url
    return nil
  }

  /// libcurl would look at the locale for the text's encoding; here it is always UTF-8.
  private func makeHostASCII(_ parsed: URLHandle) -> Bool {
    guard let host = parsed.get(CURLUPART_HOST), host.utf8.contains(where: { $0 >= 0x80 }) else { return true }
    guard let name = hs_host_to_ascii(host) else { return false }
    defer { free(name) }
    return parsed.set(CURLUPART_HOST, String(cString: name)) == CURLUE_OK
  }

  func makeSetup(_ host: Host) -> RequestSetup {
    let shape = requestShape
    let isProbing = auth?.isProbing ?? false
    isBodyInline = shape == .post && !isProbing
    let alternative = session.configuration.alternativeServices == nil ? nil : alternative(to: host)
    alternativeUsed = alternative.map { "\($0.host):\($0.port)" }
    let headers = makeHeaders(shape)
    if isUsual(shape, headers, host) {
      let setup = host.usualSetup ?? makeSetup(host, shape, headers)
      host.usualSetup = setup
      return setup
    }
    let setup = makeSetup(host, shape, headers)
    setup.customMethod = customMethod(shape)
    if case .data(let bytes) = request.body, !isProbing { setup.body = bytes }
    setup.uploadLength = source?.length ?? -1
    if sink.file != nil {
      setup.bufferSize = RequestSetup.largeBuffer
    } else if session.isCrowded {
      setup.bufferSize = RequestSetup.smallBuffer
    }
    if asksForStream {
      setup.httpVersion = Int(CURL_HTTP_VERSION_1_1)
      setup.tunnels = true
    }
    setup.streamWeight = RequestSetup.weight(priority: priority)
    if let alternativeUsed { setup.connectTo = "\(host.name):\(host.port):\(alternativeUsed)" }
    return setup
  }

  /// What the session and the host alone ask for.
  private func makeSetup(_ host: Host, _ shape: EasyHandle.Shape, _ headers: HeaderList) -> RequestSetup {
    let setup = RequestSetup(headers: headers, shape: shape)
    setup.proxy = proxyURL(host)
    setup.httpVersion = ConnectionOptions.httpVersion(session.configuration.httpVersion)
    let isPatient = options.usesPipelining ?? session.configuration.usesPipelining
    setup.waitsForPipe = host.speaksHTTP2 || isPatient && host.maySpeakHTTP2
    return setup
  }

  /// Nothing is asked for but what the session and the host ask for; and that stays as it is, as of a proxy of SOCKS it
  /// does not (`Session.url(of:)`).
  private func isUsual(_ shape: EasyHandle.Shape, _ headers: HeaderList, _ host: Host) -> Bool {
    shape == .get && headers === session.plainHeaders && request.method == "GET" && source == nil && auth == nil
      && priority == 0.5 && options.usesPipelining == nil && sink.file == nil && !session.isCrowded
      && !host.proxy.isSOCKS
  }

  /// The proxy, with the credentials that it gets.
  private func proxyURL(_ host: Host) -> String {
    if case .libcurl(_, let user, let password)? = auth?.proxy.answer {
      return host.proxy.url(user: user, password: password)
    }
    return session.url(of: host.proxy)
  }

  private var requestShape: EasyHandle.Shape {
    if request.method == "GET", source == nil { return .get }
    if HeaderText.equalNames(request.method, "HEAD") { return .head }
    guard let source, auth?.isProbing != true else {
      switch request.method {
      case "PUT", "POST", "PATCH": return .post
      default: return .get
      }
    }
    if case .data = request.body, !source.isOnce, source.length <= Self.largestInlineBody, !usesExpectation,
      !options.interest.contains(.sentBodyData), sending == nil
    {
      return .post
    }
    return .upload
  }

  /// A body up to this size goes out in one piece with the head, and is not asked for by the read callback.
  private static let largestInlineBody = 64 * 1024
  private static let expectationThreshold = 1024 * 1024

  var usesExpectation: Bool {
    switch expectation {
    case .always: return true
    case .never: return false
    case .automatic:
      guard let source else { return false }
      return source.length < 0 || source.length > Self.expectationThreshold
    }
  }

  private func customMethod(_ shape: EasyHandle.Shape) -> String? {
    switch shape {
    case .get: return request.method == "GET" ? nil : request.method
    case .head: return request.method == "HEAD" ? nil : request.method
    case .post: return request.method == "POST" ? nil : request.method
    case .upload: return request.method == "PUT" ? nil : request.method
    }
  }

  // MARK: Header lines

  private func makeHeaders(_ shape: EasyHandle.Shape) -> HeaderList {
    let authorization = authorizationHeader
    let replacesField = auth.map { !$0.server.answer.isNone } ?? false
    let cookies = session.cookiesToSend == nil ? nil : cookieField
    let conditions = caching?.load.conditions ?? []
    caching?.sends(cookies: cookies)
    let addsNothing = authorization == nil && cookies == nil && conditions.isEmpty && alternativeUsed == nil
    let isPlain = request.headers.isEmpty && addsNothing && options.decompress && !wantsIdentity
    if isPlain, !hasLeftOrigin, shape == .get || shape == .head { return session.plainHeaders }
    let list = HeaderList()
    let hasBody = shape == .post || shape == .upload
    for field in request.headers where !(hasBody && isFraming(field.name)) {
      if replacesField, HeaderText.equalNames(field.name, "authorization") { continue }
      if cookies != nil, isCookie(field) { continue }
      if isReplacedByPlan(field.name) { continue }
      list.append(field)
    }
    for field in session.defaultHeaders where !has(field.name) {
      if hasLeftOrigin, RedirectRules.isBoundToOrigin(field.name) { continue }
      if cookies != nil, isCookie(field) { continue }
      if !options.decompress || wantsIdentity, HeaderText.equalNames(field.name, "accept-encoding") { continue }
      list.append(field)
    }
    if let alternativeUsed { list.append("Alt-Used: \(alternativeUsed)") }
    if let cookies { list.append(HeaderField("Cookie", bytes: cookies)) }
    if wantsIdentity { appendIdentityHeaders(to: list) }
    if let authorization { list.append(HeaderField("Authorization", bytes: authorization.bytes)) }
    conditions.forEach(list.append)
    if hasBody { appendBodyHeaders(to: list, shape) }
    return list
  }

  private func appendBodyHeaders(to list: HeaderList, _ shape: EasyHandle.Shape) {
    // A name and a colon alone takes a field of libcurl's own away.
    if !has("content-type") { list.append("Content-Type:") }
    if !has("expect"), shape == .post || !usesExpectation { list.append("Expect:") }
  }

  private func isFraming(_ name: String) -> Bool {
    HeaderText.equalNames(name, "content-length") || HeaderText.equalNames(name, "transfer-encoding")
  }

  func has(_ name: String) -> Bool {
    !request.headers.isEmpty && request.headers.contains { HeaderText.equalNames($0.name, name) }
  }

  /// The credentials that answer a challenge, or go with the request without being asked for: there a field set by
  /// hand wins.
  private var authorizationHeader: Octets? {
    if let auth, !auth.server.answer.isNone {
      if case .field(let value) = auth.server.answer { return value }
      return nil
    }
    if has("authorization") { return nil }
    if let (user, password) = urlCredentials { return AuthAnswer.basic(user, password) }
    switch authentication {
    case .basic(let user, let password): return AuthAnswer.basic(user, password)
    case .bearer(let token): return AuthAnswer.token(token, of: "Bearer")
    case .none, .scheme, .any: return nil
    }
  }

  /// Whose response it will be; nil for nobody's in particular. Never leaves the process but as a digest.
  var cacheIdentity: Octets? {
    if let known = authorizationHeader { return known }
    switch authentication {
    case .scheme(_, let user, let password), .any(let user, let password):
      return Octets(bytes: user.bytes + [UInt8(ascii: ":")] + password.bytes)
    case .none, .basic, .bearer: return nil
    }
  }

  // MARK: The body

  /// libcurl is about to send the request. False when it must not: the connection died, and a repetition could do
  /// twice what was meant once.
  func requestBegins() -> Bool {
    requestsBegun += 1
    touch()
    if requestsBegun > 1, !sawHeader, !RequestCheck.isIdempotent(request.method) {
      refusedRepeat = true
      return false
    }
    sawHeader = false
    expectsHead = true
    isTunnelling = false
    if isVerdictDeferred {
      // libcurl has answered the response by itself.
      isVerdictDeferred = false
      isRepeating = true
      hasToldHead = false
      intake.reset()
      if let easy { hs_head_clear(easy.head) }
    }
    if let easy, host?.isSecure == true { recordTLS(easy) }
    return isConnectionTrusted
  }

  private func recordTLS(_ easy: EasyHandle) {
    var version: UnsafePointer<CChar>?
    var cipher: UnsafePointer<CChar>?
    hs_easy_get_tls(easy.curl, &version, &cipher)
    transaction.tlsVersion = version.map { String(cString: $0) } ?? ""
    transaction.tlsCipher = cipher.map { String(cString: $0) } ?? ""
  }

  /// libcurl wants bytes of the body.
  func provideBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    touch()
    if isSuspended || isWaitingForChunk { return pauseSending() }
    guard let source else { return 0 }
    if intake.isHeadComplete, !intake.isInterim, isResponseWhole {
      // The server has said all it has to say; the rest of the body is of no use to it.
      endedEarly = true
      return Callbacks.abortRead
    }
    let buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, sending?.step ?? buffer.count)])
    if let throttled = waitsToSend(source.remaining(of: buffer.count)) { return throttled }
    switch source.read(into: buffer) {
    case .bytes(let count):
      if count == 0 || source.handed == source.length { transaction.bodyEnd = WallClock.now }
      if options.interest.contains(.sentBodyData) { queueFlush() }
      return count
    case .wait:
      isWaitingForChunk = true
      core.outbox.append(.needsBodyChunk(id, suggestedSize: buffer.count))
      updateClock()
      return pauseSending()
    case .failure(let error):
      self.error = error
      return Callbacks.abortRead
    }
  }

  /// What the system has taken of the body, of what libcurl was handed.
  var bodyBytesOnWire: Int {
    guard let source, !isBodyInline else { return bodyBytesSent }
    guard isAttached, let easy else { return sentOnWire }
    return min(source.handed, easy.bodyBytesWritten)
  }

  /// Of the current request.
  var bodyBytesSent: Int {
    guard let source else { return 0 }
    // A body that went out with the head is there once something came back.
    return isBodyInline ? (sawHeader ? source.length : 0) : source.handed
  }

  func pauseSending() -> Int {
    pauseMask |= CURLPAUSE_SEND
    return Callbacks.pause
  }

  /// libcurl must send the body again from this place.
  func rewindBody(to offset: Int) -> Bool {
    guard offset == 0, let source else { return offset == 0 }
    return source.rewind()
  }
}
