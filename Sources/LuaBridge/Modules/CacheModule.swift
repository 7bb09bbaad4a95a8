import SessionCore

/// `httpscript.cache`: response caches, for `http.cache`.
enum CacheModule {
  static let type = HostType<ResponseCache>(.cache)

  static func make(_ stores: StoreRegistry) -> NativeModule {
    NativeModule(
      "httpscript.cache", functions: makers(stores) + entryFunctions + factFunctions,
      types: [NativeModule.ObjectType("cache", type, methods: [])])
  }

  /// open, standard.
  private static func makers(_ stores: StoreRegistry) -> [NativeModule.Function] {
    [
      .init("open") { call in
        call.results.append(
          ResponseCache(
            directory: call.string(1), memoryCapacity: call.integer(2) ?? ResponseCache.usualMemoryCapacity,
            diskCapacity: call.integer(3) ?? ResponseCache.usualDiskCapacity), type)
        return .returned
      },
      .init("standard") { call in
        call.results.append(stores.cache, type)
        return .returned
      },
    ]
  }

  /// get, store, remove, remove_since.
  private static var entryFunctions: [NativeModule.Function] {
    [
      .init("get") { call in
        guard let cache = call.object(1, type) else { return call.wrongType(1, "cache") }
        guard let request = request(call) else { return call.raise("incomplete request") }
        if let cached = cache.response(for: request) { call.results.append(copying: cached) }
        return .returned
      },
      .init("store") { call in
        guard let cache = call.object(1, type) else { return call.wrongType(1, "cache") }
        guard let request = request(call), let status = call.integer(5), let data = call.bytes(8) else {
          return call.raise("incomplete response")
        }
        let head = ResponseHead(
          status: status, reason: call.string(6) ?? "", httpVersion: "1.1", url: request.url,
          headerBlock: HeaderField.block(TaskArguments.fields(call.bytes(7))), expectedContentLength: data.count)
        let cached = CachedResponse(head: head, data: Bytes(copying: data), storedAt: 0)
        cached.hasNewData = true
        cached.userInfo = call.bytes(9).map(Array.init) ?? []
        cached.storage = call.string(10).flatMap(CachedResponse.Storage.init) ?? .allowed
        call.results.append(cache.store(cached, for: request))
        return .returned
      },
      .init("remove") { call in
        guard let cache = call.object(1, type) else { return call.wrongType(1, "cache") }
        guard let url = call.string(2) else { return call.wrongType(2, "string") }
        cache.remove(url: url)
        return .returned
      },
      .init("remove_since") { call in
        guard let cache = call.object(1, type) else { return call.wrongType(1, "cache") }
        guard let date = call.number(2) else { return call.wrongType(2, "number") }
        cache.remove(since: date)
        return .returned
      },
    ]
  }

  /// usage, facts.
  private static var factFunctions: [NativeModule.Function] {
    [
      .init("usage") { call in
        guard let cache = call.object(1, type) else { return call.wrongType(1, "cache") }
        let usage = cache.usage
        call.results.append(usage.memory)
        call.results.append(usage.disk)
        return .returned
      },
      .init("facts") { call in
        guard let cache = call.object(1, type) else { return call.wrongType(1, "cache") }
        call.results.append(cache.memoryCapacity)
        call.results.append(cache.directory == nil ? 0 : cache.diskCapacity)
        call.results.append(cache.directory)
        return .returned
      },
    ]
  }

  /// Method, URL and fields from the second argument on.
  private static func request(_ call: HostCall) -> Request? {
    guard let method = call.string(2), let url = call.string(3) else { return nil }
    return Request(method: method, url: url, headers: TaskArguments.fields(call.bytes(4)))
  }
}

extension Outbox {
  /// As an event's cached response, of one that nobody else keeps.
  fileprivate func append(copying cached: CachedResponse) {
    let head = cached.head
    cached.data.withBytes(append(copying:))
    append(cached.storedAt)
    if cached.userInfo.isEmpty { appendNil() } else { append(cached.userInfo) }
    append(cached.storage.rawValue)
    append(head.status)
    append(head.reason)
    append(head.httpVersion)
    append(head.url)
    head.headerBlock.withBytes(append(copying:))
    append(head.expectedContentLength)
  }
}
