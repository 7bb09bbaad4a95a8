import CCurlShim

/// Whether Negotiate can be done at all: it proves itself by a ticket of the system's, not by a password.
enum KerberosTicket {
  static var isThere: Bool { hs_has_kerberos_ticket() }
}
