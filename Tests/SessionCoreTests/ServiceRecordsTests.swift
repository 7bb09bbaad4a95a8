import Testing

@testable import SessionCore

@Suite("SRV records")
struct ServiceRecordsTests {
  /// Header, one question, answers.
  private static func message(_ answers: [[UInt8]]) -> [UInt8] {
    let question = name("_ipp", "_tcp", "test") + [0, 33, 0, 1]
    return [0, 1, 0x81, 0x80, 0, 1, 0, UInt8(answers.count), 0, 0, 0, 0] + question + answers.flatMap { $0 }
  }

  private static func name(_ labels: String...) -> [UInt8] {
    labels.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
  }

  /// With the question's name, by a pointer to it.
  private static func record(_ priority: UInt8, _ weight: UInt8, _ port: UInt8, _ host: [UInt8]) -> [UInt8] {
    let data = [0, priority, 0, weight, 0, port] + host
    return [0xC0, 12, 0, 33, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] + data
  }

  @Test("Places are found and ordered by priority, then by chance and weight")
  func places() throws {
    let answers = [
      Self.record(2, 0, 3, Self.name("c", "test")), Self.record(1, 1, 1, Self.name("a", "test")),
      Self.record(1, 9, 2, [1, UInt8(ascii: "b"), 0xC0, 12]), [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 1, 2, 3, 4],
    ]
    let records = try #require(ServiceRecords(message: Self.message(answers)))
    #expect(records.places.map(\.host) == ["c.test", "a.test", "b._ipp._tcp.test"])
    #expect(records.ordered { $0 }.map(\.port) == [2, 1, 3])
    #expect(records.ordered { _ in 0 }.map(\.port) == [1, 2, 3])
  }

  @Test("A root name says that there is none")
  func none() throws {
    let records = try #require(ServiceRecords(message: Self.message([Self.record(0, 0, 0, [0])])))
    #expect(records.places.isEmpty)
  }

  @Test("What is cut or runs in circles is no answer and does no harm")
  func hostile() {
    let whole = Self.message([Self.record(1, 1, 1, Self.name("a", "test"))])
    for length in 0..<whole.count { #expect(ServiceRecords(message: Array(whole[..<length])) == nil) }
    let circle = Self.message([Self.record(1, 1, 1, [0xC0, UInt8(whole.count - 8)])])
    #expect(ServiceRecords(message: circle)?.places.first == nil)
    for index in whole.indices {
      var damaged = whole
      damaged[index] ^= 0xFF
      _ = ServiceRecords(message: damaged)
    }
  }

  @Test("Names are put together as DNS-SD says")
  func names() {
    #expect(
      ServiceLookup.fullName("My. Printer", "_ipp._tcp.", "example.org.") == "My\\. Printer._ipp._tcp.example.org")
    #expect(ServiceLookup.fullName("a", "_ipp._tcp", "") == "a._ipp._tcp.local")
  }
}
