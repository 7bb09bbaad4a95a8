/// The absolute URLs that a page links to, without fragments, each once, in the order of the page.
struct HTMLAddresses {
  private var urls: [UInt8] = []
  private var ends: [Int] = []

  /// - Parameter url: where the page came from.
  init(_ found: HTMLFoundLinks, url: String?, resolve: @escaping URLResolver) {
    var resolver = HTMLLinkResolver(url: url, declared: found.base, resolve: resolve)
    var given = HTMLReferenceSet()
    for link in found.links {
      let start = ends.last ?? 0
      let isURL = found.withPart(link.reference) { resolver.append($0, withFragment: false, to: &urls) }
      guard isURL else { continue }
      let isNew = urls.withUnsafeBytes { given.insert(UnsafeRawBufferPointer(rebasing: $0[start...])) }
      if isNew { ends.append(urls.count) } else { urls.removeLast(urls.count - start) }
    }
  }

  /// Appends them as a list.
  func append(to outbox: Outbox) {
    outbox.beginList(ends.count)
    urls.withUnsafeBytes { urls in
      var start = 0
      for end in ends {
        outbox.append(copying: UnsafeRawBufferPointer(rebasing: urls[start..<end]))
        start = end
      }
    }
  }
}

extension Outbox {
  func append(_ addresses: HTMLAddresses) { addresses.append(to: self) }
}
