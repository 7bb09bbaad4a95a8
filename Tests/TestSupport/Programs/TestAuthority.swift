import Foundation

/// A certificate authority of OpenSSL's, made for the occasion, and the certificates it signs.
public final class TestAuthority: Sendable {
  /// A certificate and its key.
  public struct Leaf: Sendable {
    /// PEM files: the certificate, its key, and both in one.
    public let certificate: String
    /// The key alone.
    public let key: String
    /// Certificate and key in one file, as servers take them.
    public let both: String
  }

  /// When a certificate is valid.
  public enum Validity: Sendable {
    /// Now, for some days.
    case now
    /// Years ago.
    case past
    /// Not for years.
    case future

    fileprivate var dates: String {
      switch self {
      case .now: "-days 2"
      case .past: "-startdate 20200101000000Z -enddate 20210101000000Z"
      case .future: "-startdate 20700101000000Z -enddate 20710101000000Z"
      }
    }
  }

  /// Its files.
  public let directory: TemporaryDirectory
  /// PEM file of its own certificate.
  public var certificate: String { directory.path + "/ca.pem" }

  /// Makes the authority.
  public init(name: String = "Test Authority") throws {
    directory = try TemporaryDirectory()
    try directory.write("ca.cnf", TestAuthority.configuration)
    try directory.write("index.txt", "")
    try run(
      """
      \(TestAuthority.newKey) -x509 -days 2 -subj '/CN=\(name)' -keyout ca.key -out ca.pem
      """)
  }

  /// Signs a certificate.
  ///
  /// - Parameters:
  ///   - name: of its files, and its common name.
  ///   - names: as in `DNS:localhost,IP:127.0.0.1`; "" for none.
  public func leaf(_ name: String, _ names: String, _ validity: Validity = .now) throws -> Leaf {
    let alternatives = names.isEmpty ? "" : "-addext subjectAltName=\(names)"
    try run(
      """
      \(TestAuthority.newKey) -subj '/CN=\(name)' \(alternatives) -keyout '\(name).key' -out '\(name).csr'
      openssl ca -batch -notext -config ca.cnf -in '\(name).csr' -out '\(name).crt' \(validity.dates)
      cat '\(name).crt' '\(name).key' >'\(name).pem'
      """)
    return files(name)
  }

  /// A certificate that nobody but itself has signed.
  public func selfSigned(_ name: String, _ names: String) throws -> Leaf {
    try run(
      """
      \(TestAuthority.newKey) -x509 -days 2 -subj '/CN=\(name)' -addext subjectAltName=\(names) \
        -keyout '\(name).key' -out '\(name).crt'
      cat '\(name).crt' '\(name).key' >'\(name).pem'
      """)
    return files(name)
  }

  /// What the authority says of a certificate, as a file in DER to be stapled. `revoking`: it is taken back before.
  public func status(of name: String, revoking: Bool = false) throws -> String {
    try run(
      """
      \(revoking ? "openssl ca -config ca.cnf -revoke '\(name).crt'" : ":")
      openssl ocsp -issuer ca.pem -cert '\(name).crt' -no_nonce -reqout '\(name).req'
      openssl ocsp -index index.txt -CA ca.pem -rsigner ca.pem -rkey ca.key -ndays 1 -reqin '\(name).req' \
        -respout '\(name).ocsp'
      """)
    return directory.path + "/\(name).ocsp"
  }

  /// The same of a certificate that is good, as it was said days ago and without a word of when it will be said anew.
  public func oldStatus(of name: String, days: Int) throws -> String {
    let script = """
      import datetime, sys
      from cryptography import x509
      from cryptography.hazmat.primitives import hashes, serialization
      from cryptography.x509 import ocsp

      def certificate(path):
          with open(path, "rb") as file:
              return x509.load_pem_x509_certificate(file.read())

      name, days = sys.argv[1], int(sys.argv[2])
      authority = certificate("ca.pem")
      with open("ca.key", "rb") as file:
          key = serialization.load_pem_private_key(file.read(), None)
      said = datetime.datetime.utcnow() - datetime.timedelta(days=days)
      builder = ocsp.OCSPResponseBuilder().add_response(
          cert=certificate(name + ".crt"), issuer=authority, algorithm=hashes.SHA1(),
          cert_status=ocsp.OCSPCertStatus.GOOD, this_update=said, next_update=None, revocation_time=None,
          revocation_reason=None).responder_id(ocsp.OCSPResponderEncoding.HASH, authority)
      with open("%s-%d.ocsp" % (name, days), "wb") as file:
          file.write(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.DER))
      """
    try directory.write("status.py", script)
    try run("/usr/bin/python3 status.py '\(name)' \(days)")
    return directory.path + "/\(name)-\(days).ocsp"
  }

  /// Runs a shell script in its directory.
  ///
  /// - Returns: what it printed.
  @discardableResult
  public func run(_ script: String) throws -> String {
    let shell = Process()
    let output = Pipe()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-ec", script]
    shell.currentDirectoryURL = URL(fileURLWithPath: directory.path)
    shell.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.write("errors", "")))
    shell.standardOutput = output
    try shell.run()
    let printed = output.fileHandleForReading.readDataToEndOfFile()
    shell.waitUntilExit()
    guard shell.terminationStatus == 0 else {
      let errors = String(decoding: directory.read("errors") ?? [], as: UTF8.self)
      throw LaunchedProgram.NotReady(description: "\(script)\n\(errors)")
    }
    return String(decoding: printed, as: UTF8.self)
  }

  private func files(_ name: String) -> Leaf {
    let path = directory.path + "/\(name)"
    return Leaf(certificate: path + ".crt", key: path + ".key", both: path + ".pem")
  }

  private static let newKey = "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

  private static let configuration = """
    [ca]
    default_ca = here
    [here]
    database = index.txt
    new_certs_dir = .
    certificate = ca.pem
    private_key = ca.key
    default_md = sha256
    default_days = 2
    rand_serial = yes
    unique_subject = no
    copy_extensions = copy
    policy = names
    [names]
    commonName = supplied
    """
}
