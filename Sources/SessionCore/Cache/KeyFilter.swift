import Glibc

/// Which keys a disk store may have something for, as a file that all its processes share: so a request for which
/// nothing is stored does not even load SQLite.
///
/// A byte is set for each key that is stored, and never cleared but when the whole is made anew. So it may say yes for
/// nothing, but says no only where nothing is. Bytes and not bits, since processes set them without a lock.
final class KeyFilter {
  private let base: UnsafeMutablePointer<UInt8>

  static let size = 1 << 18

  /// Maps a file that is there, or nil.
  init?(path: String, creating: Bool = false) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC | (creating ? O_CREAT : 0), 0o600)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    if status.st_size != Self.size, !creating || ftruncate(descriptor, Self.size) != 0 { return nil }
    guard let place = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), place != MAP_FAILED
    else {
      return nil
    }
    base = place.assumingMemoryBound(to: UInt8.self)
  }

  deinit { munmap(base, Self.size) }

  func mayHave(_ key: String) -> Bool {
    let (first, second) = Self.places(key)
    return base[first] != 0 && base[second] != 0
  }

  func add(_ key: String) {
    let (first, second) = Self.places(key)
    base[first] = 1
    base[second] = 1
  }

  func clear() { memset(base, 0, Self.size) }

  /// FNV-1a: the same in every process.
  private static func places(_ key: String) -> (Int, Int) {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return (Int(truncatingIfNeeded: hash >> 8) & (size - 1), Int(truncatingIfNeeded: hash >> 40) & (size - 1))
  }
}
