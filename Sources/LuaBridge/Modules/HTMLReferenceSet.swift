import Glibc

/// The references that a scan has met. A page with ten thousand links names a few hundred documents, and most links
/// are dropped here before they have cost a string.
struct HTMLReferenceSet {
  private struct Entry {
    let hash: UInt64
    let start: Int
    let count: Int
  }

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  /// Index of the entry plus one at the place its hash asks for or the next free one; 0 is free.
  private var table = [UInt32](repeating: 0, count: 1024)
  /// Nobody can make a page whose references all meet in one place.
  private let seed = UInt64.random(in: 0 ... .max)

  /// True when the reference is new.
  mutating func insert(_ reference: UnsafeRawBufferPointer) -> Bool {
    let hash = hashed(reference)
    var place = Int(truncatingIfNeeded: hash) & (table.count - 1)
    while table[place] != 0 {
      if isEqual(entries[Int(table[place]) - 1], hash, reference) { return false }
      place = (place + 1) & (table.count - 1)
    }
    entries.append(Entry(hash: hash, start: bytes.count, count: reference.count))
    bytes.append(contentsOf: reference)
    table[place] = UInt32(truncatingIfNeeded: entries.count)
    if entries.count * 2 > table.count { grow() }
    return true
  }

  private func isEqual(_ entry: Entry, _ hash: UInt64, _ reference: UnsafeRawBufferPointer) -> Bool {
    guard entry.hash == hash, entry.count == reference.count, let start = reference.baseAddress else {
      return entry.hash == hash && entry.count == reference.count
    }
    return bytes.withUnsafeBytes { own in
      own.baseAddress.map { memcmp($0 + entry.start, start, entry.count) == 0 } ?? false
    }
  }

  private mutating func grow() {
    table = [UInt32](repeating: 0, count: table.count * 2)
    for (index, entry) in entries.enumerated() {
      var place = Int(truncatingIfNeeded: entry.hash) & (table.count - 1)
      while table[place] != 0 { place = (place + 1) & (table.count - 1) }
      table[place] = UInt32(truncatingIfNeeded: index + 1)
    }
  }

  /// Eight bytes at a time, multiplied and folded.
  private func hashed(_ reference: UnsafeRawBufferPointer) -> UInt64 {
    var hash = seed ^ UInt64(truncatingIfNeeded: reference.count)
    var index = 0
    while index + 8 <= reference.count {
      hash = mixed(hash ^ reference.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index += 8
    }
    var rest: UInt64 = 0
    while index < reference.count {
      rest = rest << 8 | UInt64(reference[index])
      index += 1
    }
    return mixed(hash ^ rest)
  }

  @inline(__always)
  private func mixed(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}
