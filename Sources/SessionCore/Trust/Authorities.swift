/// The certificates to trust in place of the system's: a file in PEM, or a directory as `openssl rehash` makes it.
enum Authorities {
  /// As OpenSSL reads them.
  private static let beginnings: [StaticString] = [
    "-----BEGIN CERTIFICATE-----", "-----BEGIN TRUSTED CERTIFICATE-----", "-----BEGIN X509 CERTIFICATE-----",
  ]

  /// Why nobody can be trusted by these; nil where nothing is wrong. libcurl would say no more than that it failed.
  static func problem(_ place: String) -> TaskError? {
    if KeyFile.isDirectory(place) { return KeyFile.problem(withDirectory: place) }
    switch KeyFile.read(place, takesBeginning: true) {
    case .failure(let error): return error
    case .success(let bytes):
      let text = bytes.text
      if beginnings.contains(where: { text.holds($0) }) { return nil }
      return TaskError(.secureConnectionFailed, "ca_file cannot be used: \(place): no certificate in it")
    }
  }
}
