extension String {
  /// Whether another text's bytes occur in this one's.
  ///
  /// Swift's own `contains` for texts is in the module of regular expressions, which is not linked: it would make the
  /// executable, and with it every script's start, larger by a sixth.
  func holds(_ other: StaticString) -> Bool {
    var text = self
    let wanted = UnsafeBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount)
    return text.withUTF8 { bytes in
      bytes.count >= wanted.count
        && (0...(bytes.count - wanted.count)).contains { bytes[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    }
  }
}
