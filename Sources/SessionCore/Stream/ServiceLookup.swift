import CCurlShim

/// Finding a service by its DNS-SD names, through the system's resolver. It blocks, and so runs on a helper thread.
enum ServiceLookup {
  /// The whole DNS answer; empty when there is none.
  static func query(_ name: String) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, count in
      let length = hs_query_service(name, buffer.baseAddress, Int32(buffer.count))
      count = length < 0 ? 0 : min(Int(length), buffer.count)
    }
  }

  /// "printer", "_ipp._tcp", "example.org." as one name; dots and backslashes in the first are its own
  /// (RFC 6763 §4.3).
  static func fullName(_ name: String, _ type: String, _ domain: String) -> String {
    let escaped = name.reduce(into: "") { $0 += $1 == "." || $1 == "\\" ? "\\\($1)" : String($1) }
    return [escaped, type, domain.isEmpty ? "local" : domain].filter { !$0.isEmpty }
      .map { $0.hasSuffix(".") && !$0.hasSuffix("\\.") ? String($0.dropLast()) : $0 }
      .joined(separator: ".")
  }
}

extension StreamTask {
  func lookUp(_ name: String, _ type: String, _ domain: String) {
    let name = ServiceLookup.fullName(name, type, domain)
    core.helpers.submit(HelperThreads.Job(task: id.rawValue, work: .findService(name: name)))
  }

  /// The helper thread is done.
  func serviceFound(_ job: HelperThreads.Job) {
    guard machine.phase == .connecting, connector == nil else { return }
    candidates = ServiceRecords(message: job.records)?.ordered { Int.random(in: 0...$0) } ?? []
    guard let first = candidates.first else {
      let isOnline = NetworkWatch.isThere
      let error = TaskError(isOnline ? .cannotFindHost : .notConnectedToInternet, "the resolver knows no such service")
      return connectionFailed(StreamConnector.Failure(error: error, isForWantOfNetwork: !isOnline))
    }
    candidates.removeFirst()
    connect(to: first.host, port: first.port)
  }
}
