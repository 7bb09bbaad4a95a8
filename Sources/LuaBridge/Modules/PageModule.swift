import SessionCore

/// `httpscript.page`: what a crawl reads out of pages, on a helper thread, so that it goes on with its transfers meanwhile.
enum PageModule {
  static let name = "httpscript.page"
  /// What is smaller is done before a thread would have begun.
  private static let worthAThread = 16 << 10

  static func make(_ scheduler: Scheduler) -> NativeModule {
    NativeModule(name, functions: [.init("links") { links($0, scheduler) }])
  }

  /// (text, url | nil, encoding | nil) waits -> true, list of URLs | true, nil, code, message
  private static func links(_ call: HostCall, _ scheduler: Scheduler) -> Outcome {
    guard let text = call.bytes(1) else { return call.wrongType(1, "string") }
    let work = PageLinks(Bytes(copying: text), url: call.string(2), encoding: call.string(3))
    if text.count >= worthAThread, scheduler.perform(work) { return .parked }
    work.run()
    call.results.append(true)
    work.appendResults(to: call.results)
    return .returned
  }
}

/// Finding the links of a page that lead to further pages.
private final class PageLinks: ScriptWork, @unchecked Sendable {
  private let text: Bytes
  private let url: String?
  private let encoding: String?
  private var result: Result<HTMLAddresses, XMLFailure> = .failure(.noMemory)

  init(_ text: Bytes, url: String?, encoding: String?) {
    self.text = text
    self.url = url
    self.encoding = encoding
  }

  func run() {
    let resolver = ReferenceResolver()
    result = Result { () throws(XMLFailure) in
      let found = try text.withBytes { bytes throws(XMLFailure) in
        try HTMLLinkScanner.scan(bytes, encoding: encoding, for: .pages)
      }
      return HTMLAddresses(found, url: url) { resolver.resolve($0, against: $1) }
    }
  }

  func appendResults(to outbox: Outbox) {
    switch result {
    case .success(let addresses): outbox.append(addresses)
    case .failure(let failure): outbox.append(failure)
    }
  }
}
