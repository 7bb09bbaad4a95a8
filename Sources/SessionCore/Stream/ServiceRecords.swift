/// The SRV records (RFC 2782) in a DNS answer: where a service is.
struct ServiceRecords {
  struct Place: Equatable {
    let priority: Int
    let weight: Int
    let port: Int
    let host: String
  }

  private(set) var places: [Place] = []
  private let message: [UInt8]

  private static let recordType = 33
  private static let headerLength = 12

  /// From a whole DNS message; nil when it is none.
  init?(message: [UInt8]) {
    self.message = message
    guard message.count >= Self.headerLength, let questions = number(at: 4), let answers = number(at: 6) else {
      return nil
    }
    var offset = Self.headerLength
    for _ in 0..<questions {
      guard let end = skipName(at: offset) else { return nil }
      offset = end + 4
    }
    for _ in 0..<answers {
      guard let next = readRecord(at: offset) else { return nil }
      offset = next
    }
  }

  /// In the order in which they are to be tried: lower priorities first, and among equal ones by chance, those with
  /// more weight sooner. `random` gives a number from 0 up to its argument.
  func ordered(random: (Int) -> Int) -> [Place] {
    var result: [Place] = []
    for priority in Set(places.map(\.priority)).sorted() {
      var group = places.filter { $0.priority == priority }
      while !group.isEmpty {
        var choice = random(group.reduce(0) { $0 + $1.weight })
        let index = group.firstIndex {
          choice -= $0.weight
          return choice <= 0
        }
        result.append(group.remove(at: index ?? 0))
      }
    }
    return result
  }

  /// Where the next record begins.
  private mutating func readRecord(at offset: Int) -> Int? {
    guard let end = skipName(at: offset), let type = number(at: end), let length = number(at: end + 8) else {
      return nil
    }
    let data = end + 10
    guard data + length <= message.count else { return nil }
    guard type == Self.recordType else { return data + length }
    guard let priority = number(at: data), let weight = number(at: data + 2), let port = number(at: data + 4),
      let host = name(at: data + 6)
    else { return nil }
    // A root name says that there is no such service.
    if !host.isEmpty { places.append(Place(priority: priority, weight: weight, port: port, host: host)) }
    return data + length
  }

  private func number(at offset: Int) -> Int? {
    guard offset >= 0, offset + 1 < message.count else { return nil }
    return Int(message[offset]) << 8 | Int(message[offset + 1])
  }

  private func skipName(at start: Int) -> Int? {
    var offset = start
    while offset < message.count {
      let length = Int(message[offset])
      if length >= 0xC0 { return offset + 2 }
      offset += 1 + length
      if length == 0 { return offset }
    }
    return nil
  }

  private func name(at start: Int) -> String? {
    var labels: [String] = []
    var offset = start
    // Pointers may form a circle.
    for _ in 0..<128 {
      guard offset < message.count else { return nil }
      let length = Int(message[offset])
      if length == 0 { return labels.joined(separator: ".") }
      if length >= 0xC0 {
        guard let target = number(at: offset) else { return nil }
        offset = target & 0x3FFF
        continue
      }
      guard offset + 1 + length <= message.count else { return nil }
      labels.append(String(decoding: message[(offset + 1)...(offset + length)], as: UTF8.self))
      offset += 1 + length
    }
    return nil
  }
}
