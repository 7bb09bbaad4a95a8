import SessionCore

/// `httpscript.cookies`: cookie storages, for stdlib/http/cookies.lua.
///
/// A cookie is ten values: name, value, domain, path, expires (false: none), secure, http_only, same_site, host_only,
/// created.
struct CookieModule {
  static let name = "httpscript.cookies"
  static let storage = HostType<CookieStorage>(.cookieStorage)

  let stores: StoreRegistry

  func make() -> NativeModule {
    NativeModule(
      Self.name,
      functions: [
        .init("storage") { call in
          call.results.append(call.string(1).map { CookieStorage(path: $0) } ?? CookieStorage(), Self.storage)
          return .returned
        },
        .init("standard") { call in
          call.results.append(stores.cookies, Self.storage)
          return .returned
        },
        .init("registrable_domain") { call in
          guard let host = call.string(1) else { return call.wrongType(1, "string") }
          call.results.append(PublicSuffix.registrableDomain(of: host))
          return .returned
        },
      ],
      types: [NativeModule.ObjectType("methods", Self.storage, methods: Self.methods)])
  }

  private static var methods: [NativeModule.Function] {
    [
      method("cookies", list), method("set_line", setLine), method("set", set), method("remove", remove),
      method("remove_since", removeSince), method("policy", policy), method("path", path),
    ]
  }

  private static func method(
    _ name: String, _ body: @escaping (CookieStorage, HostCall) -> Outcome
  ) -> NativeModule.Function {
    .init(name) { call in
      guard let storage = call.object(1, Self.storage) else { return call.wrongType(1, "cookie storage") }
      storage.refresh()
      defer { storage.commit() }
      return body(storage, call)
    }
  }

  /// cookies([url]) -> list of tens of values | nil where the text is no URL.
  private static func list(_ storage: CookieStorage, _ call: HostCall) -> Outcome {
    let cookies: [Cookie]
    if let url = call.string(2) {
      guard let place = CookiePlace(url: url) else {
        call.results.appendNil()
        return .returned
      }
      cookies = storage.cookies(for: place)
    } else {
      cookies = storage.all.sorted { ($0.domain, $0.path, $0.created) < ($1.domain, $1.path, $1.created) }
    }
    call.results.beginList(cookies.count * 10)
    for cookie in cookies { call.results.append(cookie) }
    return .returned
  }

  /// set_line(line, url) -> ten values | nil, why.
  private static func setLine(_ storage: CookieStorage, _ call: HostCall) -> Outcome {
    guard let line = call.bytes(2) else { return call.wrongType(2, "string") }
    guard let url = call.string(3), let place = CookiePlace(url: url) else { return refuse("the URL is none", call) }
    switch storage.set(line, from: place) {
    case .success(let cookie):
      call.results.append(cookie)
      return .returned
    case .failure(let refusal): return refuse(refusal.rawValue, call)
    }
  }

  /// set(ten values, host | nil) -> ten values | nil, why. Without `created` it is made now; the host is the one of the
  /// URL that came with it.
  private static func set(_ storage: CookieStorage, _ call: HostCall) -> Outcome {
    guard let cookie = cookie(call, at: 2) else { return refuse(CookieRefusal.unusable.rawValue, call) }
    switch storage.set(cookie, from: call.string(12), isDated: call.number(11) != nil) {
    case .success(let cookie):
      call.results.append(cookie)
      return .returned
    case .failure(let refusal): return refuse(refusal.rawValue, call)
    }
  }

  private static func refuse(_ why: String, _ call: HostCall) -> Outcome {
    call.results.appendNil()
    call.results.append(why)
    return .returned
  }

  /// Nil for what could not be sent, or not be kept apart from others.
  private static func cookie(_ call: HostCall, at index: Int) -> Cookie? {
    guard let name = call.bytes(index), let value = call.bytes(index + 1), let domain = call.string(index + 2),
      let path = call.string(index + 3), Cookie.isUsable(name: name, value: value, domain: domain, path: path)
    else { return nil }
    let created = call.number(index + 9) ?? WallClock.now
    var cookie = Cookie(name: Array(name), value: Array(value), domain: domain, path: path, created: created)
    cookie.expires = call.number(index + 4)
    cookie.isSecure = call.boolean(index + 5)
    cookie.isHTTPOnly = call.boolean(index + 6)
    cookie.sameSite = call.string(index + 7).flatMap { Cookie.SameSite(rawValue: $0) } ?? .unspecified
    cookie.isHostOnly = call.boolean(index + 8)
    return cookie
  }

  /// remove(name, domain, path, host_only | nil) -> count.
  private static func remove(_ storage: CookieStorage, _ call: HostCall) -> Outcome {
    guard let name = call.bytes(2).map(Array.init), let domain = call.string(3), let path = call.string(4) else {
      return call.wrongType(2, "name, domain and path")
    }
    let hostOnly = call.isNil(5) ? nil : call.boolean(5)
    let count = storage.remove { cookie in
      cookie.name == name && cookie.domain == domain && cookie.path == path
        && (hostOnly == nil || cookie.isHostOnly == hostOnly)
    }
    call.results.append(count)
    return .returned
  }

  /// remove_since(seconds) -> count.
  private static func removeSince(_ storage: CookieStorage, _ call: HostCall) -> Outcome {
    guard let date = call.number(2) else { return call.wrongType(2, "number") }
    call.results.append(storage.remove { $0.created >= date })
    return .returned
  }

  /// policy([word]) -> the policy as it was.
  private static func policy(_ storage: CookieStorage, _ call: HostCall) -> Outcome {
    call.results.append(storage.acceptPolicy.rawValue)
    if let policy = call.string(2).flatMap(CookieAcceptPolicy.init(rawValue:)) { storage.acceptPolicy = policy }
    return .returned
  }

  private static func path(_ storage: CookieStorage, _ call: HostCall) -> Outcome {
    call.results.append(storage.path)
    return .returned
  }
}

extension Outbox {
  fileprivate func append(_ cookie: Cookie) {
    append(cookie.name)
    append(cookie.value)
    append(cookie.domain)
    append(cookie.path)
    if let expires = cookie.expires { append(expires) } else { append(false) }
    append(cookie.isSecure)
    append(cookie.isHTTPOnly)
    append(cookie.sameSite.rawValue)
    append(cookie.isHostOnly)
    append(cookie.created)
  }
}
