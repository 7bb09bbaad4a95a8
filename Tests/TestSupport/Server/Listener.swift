import Foundation
import Glibc

/// A system call that failed, with its name and errno.
public struct SystemError: Error, CustomStringConvertible {
  /// The call, as its manual page spells it.
  public let call: String
  /// The value of errno.
  public let number: Int32

  /// Records the current errno for `call`.
  public init(_ call: String) {
    self.call = call
    number = errno
  }

  /// The call and the text for its errno.
  public var description: String { "\(call): \(String(cString: strerror(number)))" }
}

/// A bound, listening stream socket on loopback or on a path.
public struct Listener: Sendable {
  /// Where to listen.
  public enum Place: Sendable {
    /// 127.0.0.1, a port chosen by the kernel.
    case ipv4
    /// ::1, a port chosen by the kernel.
    case ipv6
    /// A Unix socket at this path.
    case unix(String)
  }

  /// The listening descriptor.
  public let descriptor: Int32
  /// The port; 0 for a Unix socket.
  public let port: Int

  /// Binds and listens.
  public init(_ place: Place) throws {
    switch place {
    case .ipv4: self = try Listener.ipv4()
    case .ipv6: self = try Listener.ipv6()
    case .unix(let path): self = try Listener.unix(path)
    }
  }

  private init(descriptor: Int32, port: Int) {
    self.descriptor = descriptor
    self.port = port
  }

  private static func ipv4() throws -> Listener {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let descriptor = try bound(AF_INET, &address)
    let name = try name(of: descriptor, sockaddr_in())
    return Listener(descriptor: descriptor, port: Int(UInt16(bigEndian: name.sin_port)))
  }

  private static func ipv6() throws -> Listener {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    let descriptor = try bound(AF_INET6, &address)
    let name = try name(of: descriptor, sockaddr_in6())
    return Listener(descriptor: descriptor, port: Int(UInt16(bigEndian: name.sin6_port)))
  }

  private static func unix(_ path: String) throws -> Listener {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      errno = ENAMETOOLONG
      throw SystemError("bind")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return Listener(descriptor: try bound(AF_UNIX, &address), port: 0)
  }

  private static func bound<Address>(_ family: Int32, _ address: inout Address) throws -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, kind, 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    let bindResult = withUnsafeBytes(of: &address) { raw in
      bind(descriptor, raw.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(raw.count))
    }
    guard bindResult == 0, listen(descriptor, 1024) == 0 else {
      let error = SystemError("bind")
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func name<Address>(of descriptor: Int32, _ empty: Address) throws -> Address {
    var address = empty
    var length = socklen_t(MemoryLayout<Address>.size)
    let result = withUnsafeMutableBytes(of: &address) { raw in
      getsockname(descriptor, raw.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
    }
    guard result == 0 else { throw SystemError("getsockname") }
    return address
  }

  /// A port of 127.0.0.1 where connections are refused: bound as long as the tests run, so that no other program gets
  /// it, and never listened to. 1 where it cannot be had.
  public static let deafPort: Int = {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeBytes(of: &address) { raw in
      bind(descriptor, raw.assumingMemoryBound(to: sockaddr.self).baseAddress, length)
    }
    guard result == 0, let name = try? name(of: descriptor, sockaddr_in()) else { return 1 }
    return Int(UInt16(bigEndian: name.sin_port))
  }()

  /// A port that was free a moment ago, for programs that must be told one. It lies below the range from which the kernel
  /// gives ports of its own choice, so that no listener or connection of another test takes it before the program does.
  public static func freePort() throws -> Int {
    for _ in 0..<200 {
      let port = programPorts.next()
      if let descriptor = try? bound(port) {
        close(descriptor)
        return port
      }
    }
    throw SystemError("bind")
  }

  /// The ports that this process gives to programs: a row of its own, from a place by chance.
  private static let programPorts = PortRow(in: 15_000..<32_000)

  /// A socket that holds this port of every address.
  private static func bound(_ port: Int) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeBytes(of: &address) { raw in
      bind(descriptor, raw.assumingMemoryBound(to: sockaddr.self).baseAddress, length)
    }
    guard result == 0 else {
      let error = SystemError("bind")
      close(descriptor)
      throw error
    }
    return descriptor
  }
}

/// Numbers of a range, one after the other from a place by chance.
private final class PortRow: @unchecked Sendable {
  private let lock = NSLock()
  private let range: Range<Int>
  private var last: Int

  init(in range: Range<Int>) {
    self.range = range
    last = Int.random(in: range)
  }

  func next() -> Int {
    lock.withLock {
      last = last + 1 < range.upperBound ? last + 1 : range.lowerBound
      return last
    }
  }
}
