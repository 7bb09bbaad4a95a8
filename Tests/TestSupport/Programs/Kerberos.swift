import Foundation

/// A Kerberos realm of its own: a key distribution centre on loopback, a ticket for user alice, and the key of the
/// service HTTP/localhost.
public final class Kerberos: Sendable {
  private let directory: TemporaryDirectory
  private let program: LaunchedProgram
  private let port: Int

  /// The key of HTTP/localhost.
  var keytab: String { directory.path + "/http.keytab" }

  /// What makes a process a member of the realm, with alice's ticket.
  public var environment: [String: String] {
    ["KRB5_CONFIG": directory.path + "/krb5.conf", "KRB5CCNAME": "FILE:\(directory.path)/ticket"]
  }

  /// The same without a ticket.
  public var environmentWithoutTicket: [String: String] {
    environment.merging(["KRB5CCNAME": "FILE:\(directory.path)/no-ticket"]) { $1 }
  }

  /// Makes the realm and gets the ticket.
  public init() throws {
    directory = try TemporaryDirectory()
    port = try Listener.freePort()
    try directory.write("krb5.conf", Kerberos.client(port: port))
    try directory.write("kdc.conf", Kerberos.server(port: port, directory: directory.path))
    let variables = [
      "KRB5_CONFIG": directory.path + "/krb5.conf", "KRB5_KDC_PROFILE": directory.path + "/kdc.conf",
      "KRB5CCNAME": "FILE:\(directory.path)/ticket",
    ]
    try shell(Kerberos.making, in: directory, environment: variables, purpose: "the Kerberos realm")
    program = try LaunchedProgram(["krb5kdc", "-n"], in: directory, environment: variables, ports: [port])
    try shell("echo secret | kinit alice", in: directory, environment: variables, purpose: "alice's ticket")
  }

  private static let making = """
    PATH=$PATH:/usr/sbin:/sbin
    kdb5_util create -s -P master
    kadmin.local -q 'addprinc -pw secret alice'
    kadmin.local -q 'addprinc -randkey HTTP/localhost'
    kadmin.local -q "ktadd -k $PWD/http.keytab HTTP/localhost"
    chmod 644 http.keytab
    """

  private static func client(port: Int) -> String {
    """
    [libdefaults]
      default_realm = TEST.LOCAL
      dns_lookup_kdc = false
      dns_lookup_realm = false
      dns_canonicalize_hostname = false
      rdns = false
      udp_preference_limit = 1
    [realms]
      TEST.LOCAL = {
        kdc = 127.0.0.1:\(port)
      }
    [domain_realm]
      localhost = TEST.LOCAL

    """
  }

  private static func server(port: Int, directory: String) -> String {
    """
    [kdcdefaults]
      kdc_listen = ""
      kdc_tcp_listen = 127.0.0.1:\(port)
    [realms]
      TEST.LOCAL = {
        database_name = \(directory)/principal
        key_stash_file = \(directory)/stash
        acl_file = \(directory)/acl
      }
    [logging]
      kdc = FILE:\(directory)/kdc.log

    """
  }
}
