/// Stored responses and their bodies in memory; what was used least recently goes first.
final class MemoryTier {
  private final class Entry {
    var response: StoredResponse
    var lastUse = 0

    init(_ response: StoredResponse) { self.response = response }

    /// What it counts for.
    var size: Int { MemoryTier.overhead + response.fields.lines.reduce(response.length) { $0 + $1.value.count + 32 } }
  }

  let capacity: Int
  private(set) var size = 0
  private var entries: [String: [Entry]] = [:]
  private var uses = 0
  private let numbers: Numbers

  private static let overhead = 512

  /// Gives numbers that are negative, so that they never meet a database's.
  final class Numbers {
    private var last = 0

    func next() -> Int {
      last -= 1
      return last
    }
  }

  init(capacity: Int, numbers: Numbers = Numbers()) {
    self.capacity = capacity
    self.numbers = numbers
  }

  /// Everything, in no order.
  var all: [StoredResponse] { entries.values.joined().map(\.response) }

  /// What is stored for a key; their bodies are in memory.
  func variants(_ key: String) -> [StoredResponse] { entries[key]?.map(\.response) ?? [] }

  /// Says that it was used just now.
  func touch(_ response: StoredResponse) {
    guard let entry = entry(response) else { return }
    uses += 1
    entry.lastUse = uses
  }

  /// Stores a response in the place of the one that answers the same requests. False: it is too large.
  @discardableResult
  func put(_ response: StoredResponse) -> Bool {
    remove(response.key, selecting: response.selecting)
    let entry = Entry(response)
    entry.response.id = numbers.next()
    guard entry.size <= capacity else { return false }
    uses += 1
    entry.lastUse = uses
    entries[response.key, default: []].append(entry)
    size += entry.size
    if size > capacity { evict() }
    return true
  }

  /// Puts another head in the place of a stored one. False: that is gone.
  func replace(_ old: StoredResponse, by new: StoredResponse) -> Bool {
    guard let entry = entry(old) else { return false }
    size -= entry.size
    entry.response = new
    entry.response.id = old.id
    size += entry.size
    if size > capacity { evict() }
    return true
  }

  func removeAll() {
    entries.removeAll()
    size = 0
  }

  func remove(key: String) { filter(key) { _ in false } }

  func remove(_ key: String, selecting: SelectingFields) { filter(key) { $0.selecting != selecting } }

  func remove(_ response: StoredResponse) { filter(response.key) { $0.id != response.id } }

  func remove(since date: Double) {
    for key in Array(entries.keys) { filter(key) { $0.storedAt < date } }
  }

  private func entry(_ response: StoredResponse) -> Entry? {
    entries[response.key]?.first { $0.response.id == response.id }
  }

  private func filter(_ key: String, _ stays: (StoredResponse) -> Bool) {
    guard let list = entries[key] else { return }
    let kept = list.filter { stays($0.response) }
    guard kept.count < list.count else { return }
    size += kept.reduce(0) { $0 + $1.size } - list.reduce(0) { $0 + $1.size }
    entries[key] = kept.isEmpty ? nil : kept
  }

  /// Makes some more room than is needed, so that it is not done for each response.
  private func evict() {
    for entry in entries.values.joined().sorted(by: { $0.lastUse < $1.lastUse }) {
      guard size > capacity - capacity / 8 else { return }
      remove(entry.response)
    }
  }
}

/// Bodies of files that have been looked at, by the file's name: they need not be read again.
final class BodyMemory {
  private let capacity: Int
  private(set) var size = 0
  private var bodies: [String: (bytes: Bytes, lastUse: Int)] = [:]
  private var uses = 0

  init(capacity: Int) { self.capacity = capacity }

  /// A body larger than this is not kept.
  var limit: Int { min(capacity / 8, 1 << 20) }

  func body(_ name: String) -> Bytes? {
    guard let found = bodies[name] else { return nil }
    uses += 1
    bodies[name]?.lastUse = uses
    return found.bytes
  }

  func put(_ name: String, _ bytes: Bytes) {
    guard bytes.count <= limit, bodies[name] == nil else { return }
    uses += 1
    bodies[name] = (bytes, uses)
    size += bytes.count
    guard size > capacity else { return }
    for (name, one) in bodies.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
      guard size > capacity - capacity / 8 else { return }
      bodies[name] = nil
      size -= one.bytes.count
    }
  }

  func removeAll() {
    bodies.removeAll()
    size = 0
  }
}
