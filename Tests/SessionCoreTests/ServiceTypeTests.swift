import CCurlShim
import Glibc
import Testing

@testable import SessionCore

@Suite("Service types")
struct ServiceTypeTests {
  private static func option(_ descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32 {
    var value: Int32 = -1
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, level, name, &value, &size)
    return value
  }

  @Test("A connection has its code point and its place in the system's queue")
  func marks() throws {
    let types: [(ServiceType, tos: Int32, priority: Int32)] = [
      (.standard, 0, 0), (.background, 32, 2), (.responsiveData, 72, 4), (.avStreaming, 104, 5),
      (.responsiveAV, 128, 5),
      (.video, 136, 5), (.callSignaling, 160, 6), (.voice, 184, 6),
    ]
    for (type, tos, priority) in types {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      type.mark(descriptor)
      #expect(Self.option(descriptor, Int32(IPPROTO_IP), IP_TOS) == tos, "\(type)")
      #expect(Self.option(descriptor, SOL_SOCKET, SO_PRIORITY) == priority, "\(type)")
    }
  }
}
