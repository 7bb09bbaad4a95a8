/// A private HTTP cache (`URLCache`, RFC 9111): memory before disk, or memory alone.
///
/// What is to go to disk is written a little later, several responses at once; until then it is found in memory.
/// Belongs to the thread of the loop.
public final class ResponseCache {
  let rules = CacheRules()
  public let memoryCapacity: Int
  public let diskCapacity: Int
  /// Where the disk's part is.
  public let directory: String?
  /// It was to have a disk's part, and no directory for that is known.
  private let isHomeless: Bool
  private let memory: MemoryTier
  /// What is on its way to disk.
  private let waiting: MemoryTier
  private var waitingCount = 0
  private let disk: DiskTier?
  private let bodies: BodyMemory
  /// When responses on disk were used, to be told to the database.
  private var used: [Int: Double] = [:]
  /// When (MonotonicClock) what waits is written.
  private(set) var writeDeadline: Double?
  /// When keys were made void last: a response that was asked for before that is not stored.
  private var voidSince: [String: Double] = [:]

  /// No single body is larger than this.
  private static let bodyLimit = 64 << 20
  /// As much may wait to be written …
  private static let waitingLimit = 64
  private static let waitingBytes = 2 << 20
  /// … for so many seconds.
  private static let writeDelay = 0.1
  /// Bodies from this size on go to their files as they come.
  static let spillSize = 256 * 1024

  public static let usualMemoryCapacity = 8 << 20
  public static let usualDiskCapacity = 256 << 20

  /// - Parameters:
  ///   - directory: Where the disk's part is; nil for none.
  ///   - isStandard: It is to have a disk's part, and the user is told where it cannot.
  public init(
    directory: String?, memoryCapacity: Int = ResponseCache.usualMemoryCapacity,
    diskCapacity: Int = ResponseCache.usualDiskCapacity, isStandard: Bool = false
  ) {
    isHomeless = isStandard && directory == nil
    self.memoryCapacity = max(0, memoryCapacity)
    self.diskCapacity = max(0, diskCapacity)
    self.directory = directory
    disk = directory.flatMap { diskCapacity > 0 ? DiskTier(directory: $0, capacity: diskCapacity) : nil }
    let numbers = MemoryTier.Numbers()
    memory = MemoryTier(capacity: disk == nil ? self.memoryCapacity : self.memoryCapacity / 2, numbers: numbers)
    bodies = BodyMemory(capacity: self.memoryCapacity / 2)
    waiting = MemoryTier(capacity: .max, numbers: numbers)
  }

  deinit { write() }

  // MARK: Finding

  /// All that is stored for a key.
  func variants(_ key: String) -> [StoredResponse] {
    let recent = memory.variants(key) + waiting.variants(key)
    guard let disk else { return recent }
    return recent
      + disk.variants(key).filter { one in !recent.contains { $0.selecting == one.selecting } }
  }

  func decide(_ request: CacheRequest, now: Double) -> CacheDecision {
    let looksUp = request.isCacheable && request.policy != .reloadIgnoringLocalCacheData
    return rules.decide(request, looksUp ? variants(request.key) : [], now: now)
  }

  /// The body of a stored response, once it is known to be the one that was stored. Nil: it is not, and the response
  /// is stored no more.
  func body(of response: StoredResponse) -> CachedBody? {
    switch response.place {
    case .nowhere: return nil
    case .memory(let bytes):
      memory.touch(response)
      return .memory(bytes)
    case .file(let name, let digest):
      guard let body = fileBody(name, response.length, digest) else {
        disk?.remove(response)
        return nil
      }
      used[response.id] = WallClock.now
      return body
    }
  }

  private func fileBody(_ name: String, _ length: Int, _ digest: [UInt8]) -> CachedBody? {
    if let bytes = bodies.body(name) { return .memory(bytes) }
    guard let body = disk?.bodies.open(name, length: length, digest: digest, limitInMemory: bodies.limit) else {
      return nil
    }
    if case .memory(let bytes) = body { bodies.put(name, bytes) }
    return body
  }

  // MARK: Storing

  /// Takes the body of a response that is to be stored; nil where it cannot be.
  func makeRecorder(_ response: StoredResponse, expectedLength: Int) -> BodyRecorder? {
    let limit = limit(response.storage)
    guard expectedLength <= limit else { return nil }
    return BodyRecorder(limit: limit, files: response.storage == .allowed ? disk?.bodies : nil)
  }

  /// How large a body may be.
  func limit(_ storage: CachedResponse.Storage) -> Int {
    min(disk != nil && storage == .allowed ? diskCapacity : memory.capacity, Self.bodyLimit)
  }

  /// Stores a response whose body has come whole.
  func store(_ response: StoredResponse, _ recorder: BodyRecorder) {
    var response = response
    response.length = recorder.count
    store(response) { recorder.place() }
  }

  /// The same with the body in memory.
  func store(_ response: StoredResponse, _ body: Bytes) {
    var response = response
    response.length = body.count
    store(response) { .memory(body) }
  }

  /// Stores a part of a representation, put together with what is stored of it already. Answers what is stored now,
  /// and its body where that is more than what came.
  func store(part: StoredResponse, _ recorder: BodyRecorder) -> (StoredResponse, Bytes?) {
    let known = variants(part.key).filter { $0.selecting == part.selecting }
    for one in known {
      guard let combination = rules.combined(one, with: part), let old = body(of: one), let new = recorder.contents(),
        let before = old.bytes(0..<combination.before),
        let after = old.bytes((old.length - combination.after)..<old.length)
      else { continue }
      guard new.withBytes(before.append), after.withBytes(before.append) else { continue }
      store(combination.response, before)
      return (combination.response, before)
    }
    // A whole response that holds more than this part is not given up for it.
    guard !known.contains(where: \.isComplete) else { return (part, nil) }
    store(part, recorder)
    return (part, nil)
  }

  private func store(_ response: StoredResponse, _ place: () -> StoredResponse.Place?) {
    guard response.storage != .notAllowed, (voidSince[response.key] ?? -.infinity) < response.requestedAt,
      let place = place()
    else { return }
    var response = response
    response.place = place
    response.storedAt = WallClock.now
    memory.remove(response.key, selecting: response.selecting)
    guard let disk, response.storage == .allowed else {
      if isHomeless { warnOfHomelessness() }
      memory.put(response)
      return
    }
    if case .file = place {
      waiting.remove(response.key, selecting: response.selecting)
      if !disk.store([response], used: [:]) { discard(place) }
      return
    }
    waiting.put(response)
    waitingCount += 1
    if waitingCount >= Self.waitingLimit || waiting.size > Self.waitingBytes { return write() }
    if writeDeadline == nil { writeDeadline = MonotonicClock.now + Self.writeDelay }
  }

  private func warnOfHomelessness() {
    Warnings.tell(
      DatabaseFile.directorySubject,
      "neither XDG_CACHE_HOME nor HOME names a directory: responses are kept in memory only")
  }

  private func discard(_ place: StoredResponse.Place) {
    if case .file(let name, _) = place { disk?.bodies.remove(name) }
  }

  /// Puts other fields in the place of a stored response's.
  func update(_ old: StoredResponse, by new: StoredResponse) {
    var new = new
    new.storedAt = WallClock.now
    if memory.replace(old, by: new) || waiting.replace(old, by: new) { return }
    // It may have gone to disk meanwhile, under another number.
    let current = variants(old.key).first { $0.id == old.id || $0.selecting == old.selecting && old.id < 0 }
    guard let current else { return }
    new.id = current.id
    disk?.update(new)
  }

  // MARK: Writing

  /// Writes what waits to disk.
  public func write() {
    writeDeadline = nil
    guard let disk, waitingCount > 0 || !used.isEmpty else { return }
    guard waitingCount == 0 || disk.isReady else { return keepInMemory() }
    let responses = waiting.all.compactMap { written($0, disk) }
    if !disk.store(responses.map(\.response), used: used) {
      responses.forEach { discard($0.response.place) }
      // Where the disk will not have it, memory is better than nothing.
      responses.forEach { memory.put($0.original) }
    } else {
      for one in responses { if case .file(let name, _) = one.response.place { bodies.put(name, one.bytes) } }
    }
    waiting.removeAll()
    waitingCount = 0
    used = [:]
  }

  /// The disk will not have it.
  private func keepInMemory() {
    waiting.all.forEach { memory.put($0) }
    waiting.removeAll()
    waitingCount = 0
    used = [:]
  }

  private struct Written {
    var response: StoredResponse
    var original: StoredResponse
    var bytes: Bytes
  }

  /// Writes the body to its file.
  private func written(_ response: StoredResponse, _ disk: DiskTier) -> Written? {
    guard case .memory(let bytes) = response.place else { return nil }
    guard let writer = disk.bodies.create(), bytes.withBytes(writer.write), writer.commit(),
      let digest = bytes.withBytes(Hash.sha256.digest)
    else {
      disk.failed()
      memory.put(response)
      return nil
    }
    var result = response
    result.place = .file(name: writer.name, digest: digest)
    return Written(response: result, original: response, bytes: bytes)
  }

  // MARK: Removing

  /// Makes void what is stored for a key, and what is under way.
  func invalidate(_ key: String) {
    if voidSince.count > 1000 { voidSince.removeAll() }
    voidSince[key] = WallClock.now
    remove(key: key)
  }

  func remove(key: String) {
    memory.remove(key: key)
    waiting.remove(key: key)
    disk?.remove(key: key)
  }

  func remove(_ response: StoredResponse) {
    if response.id < 0 {
      memory.remove(response)
      waiting.remove(response)
    } else {
      disk?.remove(response)
    }
  }

  /// Removes what was stored at that time or later (Unix seconds).
  public func remove(since date: Double) {
    memory.remove(since: date)
    waiting.remove(since: date)
    disk?.remove(since: date)
  }

  /// Bytes in memory and on disk.
  public var usage: (memory: Int, disk: Int) {
    write()
    return (memory.size + bodies.size, disk?.usage ?? 0)
  }
}
