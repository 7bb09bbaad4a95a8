/// Cookies: sent with each request anew, so that those a redirect sets go with the next hop, and taken from each
/// response.
extension Transfer {
  /// The value of the Cookie field where stored cookies go with the request; fields set by hand are merged into it.
  /// A stored cookie of a name that was set by hand stays behind.
  var cookieField: [UInt8]? {
    guard options.handlesCookies, let storage = session.cookiesToSend, storage.mayHold(core.now),
      let place = cookiePlace
    else { return nil }
    let stored = storage.cookies(for: place)
    guard !stored.isEmpty else { return nil }
    let byHand = cookiesSetByHand
    let names = Self.names(in: byHand)
    var field: [UInt8] = []
    for cookie in stored where !names.contains(cookie.name) { cookie.appendPair(to: &field) }
    if !field.isEmpty, !byHand.isEmpty { field += [UInt8(ascii: ";"), UInt8(ascii: " ")] }
    return field + byHand
  }

  func isCookie(_ field: HeaderField) -> Bool { HeaderText.equalNames(field.name, "cookie") }

  /// The request's own Cookie fields, or else the session's.
  private var cookiesSetByHand: [UInt8] {
    var fields = request.headers.filter(isCookie)
    if fields.isEmpty, !hasLeftOrigin { fields = session.defaultHeaders.filter(isCookie) }
    return Array(fields.map(\.value).filter { !$0.isEmpty }.joined(separator: [UInt8(ascii: ";"), UInt8(ascii: " ")]))
  }

  private static func names(in field: [UInt8]) -> Set<[UInt8]> {
    let pairs = field.split(separator: UInt8(ascii: ";"))
    return Set(
      pairs.compactMap { pair in
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return Array(pair[..<equals].drop { $0 == 0x20 })
      })
  }

  private var cookiePlace: CookiePlace? {
    guard urlLook.isPlain, urlLook.isRegular, let host else { return CookiePlace(url: url) }
    let path = url.utf8.dropFirst(urlLook.authorityLength).prefix(urlLook.pathLength)
    return CookiePlace(isSecure: host.isSecure, host: host.name, path: String(decoding: path, as: UTF8.self))
  }

  /// Takes the Set-Cookie fields of the head that has just come: of any response but an interim one, or a proxy's to
  /// CONNECT, neither of which comes here.
  func takeCookies() {
    guard options.handlesCookies, let storage = session.configuration.cookieStorage,
      let place = cookiePlace
    else { return }
    let mainDocument = options.mainDocumentURL.map { CookiePlace(url: $0)?.host ?? "" }
    HeaderText.forEachLine(intake.block.buffer) { line in
      guard let field = HeaderText.value(of: "set-cookie", in: line) else { return }
      storage.set(field, from: place, policy: session.configuration.cookieAcceptPolicy, mainDocument: mainDocument)
    }
    if storage.needsCommit, !core.changedStorages.contains(where: { $0 === storage }) {
      core.changedStorages.append(storage)
    }
  }
}
