import TestSupport
import Testing

/// Files that sessions and stores are told to read and that cannot be used: the error says which, and what is wrong.
@Suite struct MissingFileTests {
  private let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  static let script = """
    local server, authority, certificate, directory = ...
    local function shown(message) return (message:gsub(directory:gsub("%p", "%%%0"), "DIR")) end
    local function try(name, fields)
      local r, err = http.session(http.configuration.ephemeral(fields)):get(server)
      print(name, r and r.status or err.code, err and shown(err.message) or "")
    end
    local function write(name, text)
      local path = directory .. "/" .. name
      local file = assert(io.open(path, "wb"))
      file:write(text)
      file:close()
      return path
    end
    local absent, text = directory .. "/absent.pem", write("text.pem", "no certificate\\n")
    local none = write("none.pem", "")

    """

  @Test("A file of certificates to trust that cannot be used is named before anything is connected")
  func authorities() async throws {
    let server = try TLSServer(authority.leaf("host", "DNS:localhost"))
    let directory = try TemporaryDirectory()
    let unusable = "secure_connection_failed\tca_file cannot be used: DIR/"
    try await expectScript(
      Self.script + """
        try("absent", { ca_file = absent })
        try("below a file", { ca_file = text .. "/x.pem" })
        try("text", { ca_file = text })
        try("none", { ca_file = none })
        try("key", { ca_file = write("key.pem", "-----BEGIN PRIVATE KEY-----\\nAA==\\n-----END PRIVATE KEY-----\\n") })
        -- Clear text needs no certificates, but a proxy that is spoken to by TLS does.
        local proxied = http.session { ca_file = absent, connection_proxy = { url = server } }
        print(select(2, proxied:get("http://h.test/")).code)
        local host, port = server:match("//(.*):(%d+)")
        local task = http.session { ca_file = absent }:stream_task(host, tonumber(port))
        task:resume()
        task:start_secure_connection()
        print(select(2, task:wait()).code)
        try("bundle", { ca_file = write("bundle.pem", "# Comment\\n" .. io.open(authority):read("a")) })
        """,
      [server.url, authority.certificate, authority.certificate, directory.path],
      prints: [
        "absent\tfile_does_not_exist\tcannot read DIR/absent.pem: No such file or directory",
        "below a file\tfile_does_not_exist\tcannot read DIR/text.pem/x.pem: Not a directory",
        "text\t\(unusable)text.pem: no certificate in it", "none\t\(unusable)none.pem: no certificate in it",
        "key\t\(unusable)key.pem: no certificate in it", "file_does_not_exist", "file_does_not_exist",
        "bundle\t200\t",
      ])
  }

  @Test("Other files of certificates, keys, passwords and cookies that are not there are named")
  func others() async throws {
    let server = try TLSServer(authority.leaf("host", "DNS:localhost"))
    let directory = try TemporaryDirectory()
    let missing = "file_does_not_exist\tcannot read DIR/absent.pem: No such file or directory"
    try await expectScript(
      Self.script + """
        try("certificate", { ca_file = authority, client_certificate = absent })
        try("key", { ca_file = authority, client_certificate = { certificate = certificate, key = absent } })
        for _, pinning in ipairs { "certificate", "public_key" } do
          try("pin", { ca_file = authority, security_policy = http.security_policy {
            pinning = pinning, certificates = { absent },
          } })
        end
        local function failed(_, err) print(err.code, shown(err.message)) end
        failed(http.credential_storage { netrc = absent })
        failed(http.cookie_storage():import(absent))
        """,
      [server.url, authority.certificate, authority.certificate, directory.path],
      prints: [
        "certificate\t\(missing)", "key\t\(missing)", "pin\t\(missing)", "pin\t\(missing)", missing,
        missing,
      ])
  }
}
