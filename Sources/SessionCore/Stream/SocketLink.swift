import CCurlShim
import Glibc

/// A connected socket that libcurl has made and that a stream has taken over from it (`Poller.take`).
final class SocketLink: StreamLink {
  private let descriptor: Int32
  private unowned(unsafe) let core: SessionCore
  private weak var owner: StreamLinkOwner?
  /// What the poller knows it by.
  private let index: Int32
  private var wanted: UInt8 = 0
  private var isClosed = false

  /// As much as is read or written between two looks at other descriptors.
  private static let pieceSize = 64 * 1024

  /// The socket is non-blocking, as libcurl's are.
  init(descriptor: Int32, core: SessionCore, owner: StreamLinkOwner) {
    self.descriptor = descriptor
    self.core = core
    self.owner = owner
    index = core.links.nextIndex()
    core.links.add(self, index)
  }

  deinit { close() }

  func want(input: Bool, output: Bool) {
    guard !isClosed else { return }
    let events = (input ? UInt8(HS_READABLE) : 0) | (output ? UInt8(HS_WRITABLE) : 0)
    guard events != wanted else { return }
    wanted = events
    core.poller.want(descriptor, events: events, owner: index)
  }

  /// The poller says that something can be done.
  func act(events: UInt8) {
    let failed = events & UInt8(HS_FAILED) != 0
    if wanted & UInt8(HS_READABLE) != 0, failed || events & UInt8(HS_READABLE) != 0 { receive() }
    guard wanted & UInt8(HS_WRITABLE) != 0, failed || events & UInt8(HS_WRITABLE) != 0 else { return }
    if owner?.linkOutput.count == 0 { owner?.linkSent() } else { push() }
  }

  private func receive() {
    withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 16) { piece in
      let count = recv(descriptor, piece.baseAddress, piece.count, 0)
      if count > 0 {
        owner?.linkReceived(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      } else if count == 0 {
        owner?.linkEnded()
      } else {
        fail(errno, "receiving")
      }
    }
  }

  /// Sends what there is, as far as the system takes it.
  func push() {
    guard !isClosed, let output = owner?.linkOutput, output.count > 0 else { return }
    let count = Glibc.send(descriptor, output.base, output.count, Int32(MSG_NOSIGNAL))
    guard count >= 0 else { return fail(errno, "sending") }
    output.removeFirst(count)
    owner?.linkSent()
  }

  private func fail(_ number: Int32, _ doing: String) {
    if number == EAGAIN || number == EINTR { return }
    let text = String(cString: strerror(number))
    owner?.linkFailed(
      TaskError(
        .networkConnectionLost, "\(doing): \(text)",
        underlying: .init(source: .errno, code: Int(number), message: text)))
  }

  var hasOtherRoute: Bool { !isClosed && hs_has_other_route(descriptor) }

  func shutDownOutput() {
    if !isClosed { _ = shutdown(descriptor, Int32(SHUT_WR)) }
  }

  func shutDownInput() {
    if !isClosed { _ = shutdown(descriptor, Int32(SHUT_RD)) }
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    core.links.remove(index)
    core.poller.giveBack(descriptor)
  }
}

/// The links of a core, by what the poller knows them by: numbers below zero, since those of multi handles are not.
struct LinkTable {
  private var links: [Int32: Weak] = [:]
  private var last = LinkTable.first
  /// -1 is nobody, -2 the watch on the network.
  private static let first: Int32 = -3

  private struct Weak {
    weak var link: SocketLink?
  }

  mutating func nextIndex() -> Int32 {
    repeat { last = last <= -1_000_000_000 ? Self.first : last - 1 } while links[last] != nil
    return last
  }

  mutating func add(_ link: SocketLink, _ index: Int32) { links[index] = Weak(link: link) }
  mutating func remove(_ index: Int32) { links[index] = nil }
  func link(_ index: Int32) -> SocketLink? { links[index]?.link }
}
