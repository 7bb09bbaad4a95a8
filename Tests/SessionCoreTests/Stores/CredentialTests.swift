import Glibc
import Testing

@testable import SessionCore

@Suite struct CredentialTests {
  let directory: TemporaryDirectory
  let space = ProtectionSpace(host: "h.test", port: 443, scheme: "https", realm: "r", method: "basic", isProxy: false)

  init() throws { directory = try TemporaryDirectory() }

  private func credential(
    _ user: String, _ password: String = "p", _ persistence: Credential.Persistence = .forSession
  ) -> Credential {
    Credential(.password(user: Octets(user), password: Octets(password)), persistence: persistence)
  }

  private func secret(_ credential: Credential?) -> String? {
    guard case .password(let user, let password)? = credential?.secret else { return nil }
    return "\(user.text ?? "?"):\(password.text ?? "?")"
  }

  @Test("A user has one credential in a space, and the default one comes first")
  func memory() {
    let storage = CredentialStorage()
    let pattern = SpacePattern(space)
    storage.set(credential("a"), for: pattern)
    storage.set(credential("b"), for: pattern)
    storage.set(credential("a", "new"), for: pattern)
    #expect(storage.credentials(for: pattern).compactMap(secret) == ["a:new", "b:p"])
    storage.set(credential("b"), for: pattern, isDefault: true)
    storage.set(credential("a", "newer"), for: pattern)
    #expect(secret(storage.defaultCredential(for: pattern)) == "b:p")
    #expect(storage.remove(credential("b"), for: pattern))
    #expect(!storage.remove(credential("b"), for: pattern))
    #expect(secret(storage.defaultCredential(for: pattern)) == "a:newer")
    storage.set(credential("c", "p", .none), for: pattern)
    #expect(storage.credentials(for: pattern).count == 1)
    storage.removeAll()
    #expect(storage.defaultCredential(for: pattern) == nil)
  }

  @Test("What is not named is any, and what says more comes first")
  func patterns() {
    let storage = CredentialStorage()
    storage.set(credential("exact"), for: SpacePattern(space))
    storage.set(credential("host"), for: SpacePattern(host: "H.test"))
    storage.set(credential("other"), for: SpacePattern(host: "h.test", realm: "other"))
    storage.set(credential("proxy"), for: SpacePattern(host: "h.test", isProxy: true))
    #expect(storage.credentials(for: SpacePattern(space)).compactMap(secret) == ["exact:p", "host:p"])
    #expect(storage.credentials(for: SpacePattern(host: "h.test")).compactMap(secret) == ["host:p"])
  }

  @Test("Permanent credentials are in a file of mode 0600, for other processes too")
  func permanence() throws {
    let file = CredentialTable.file("\(directory.path)/credentials.sqlite")
    let (first, second) = (CredentialStorage(.file(file)), CredentialStorage(.file(file)))
    let pattern = SpacePattern(space)
    first.set(credential("session"), for: pattern)
    first.set(credential("kept", "1", .permanent), for: pattern)
    first.set(credential("kept", "2", .permanent), for: pattern)
    first.set(Credential(.token("t"), persistence: .permanent), for: SpacePattern(host: "h.test", method: "bearer"))
    #expect(second.credentials(for: pattern).compactMap(secret) == ["kept:2"])
    #expect(second.credentials(for: pattern).first?.persistence == .permanent)
    #expect(second.defaultCredential(for: SpacePattern(host: "h.test", method: "bearer"))?.secret == .token("t"))
    #expect(second.remove(credential("kept"), for: pattern))
    #expect(first.credentials(for: pattern).compactMap(secret) == ["session:p"])
    chmod(file.path, 0o644)
    #expect(CredentialStorage(.file(file)).credentials(for: SpacePattern(host: "h.test", method: "bearer")).isEmpty)
    #expect(CredentialStorage.problem(withSecretFile: file.path)?.contains("0600") == true)
  }

  @Test("A session's credential is not written, and nor is one that is permanent where there is no file")
  func noFile() {
    let storage = CredentialStorage(.nowhere)
    storage.set(credential("a", "p", .permanent), for: SpacePattern(space))
    #expect(storage.credentials(for: SpacePattern(space)).count == 1)
  }

  // MARK: netrc

  static let file = """
    # comment machine h.test login wrong password wrong
    macdef init
    machine h.test login macro password macro

    machine other.test login o password op
    MACHINE "h.test" login "a \\"quoted\\" user" password "tab\\tend\\\\" account x
    machine h.test login second password s
    default login anonymous password "me@example.org" # the rest
    """

  static let lookups: [(host: String, user: String?, expected: String)] = [
    ("h.test", nil, "a \"quoted\" user:tab\tend\\"), ("H.TEST", nil, "a \"quoted\" user:tab\tend\\"),
    ("h.test", "second", "second:s"), ("other.test", nil, "o:op"), ("x.test", nil, "anonymous:me@example.org"),
    ("x.h.test", nil, "anonymous:me@example.org"), ("other.test", "anonymous", "anonymous:me@example.org"),
  ]

  @Test("netrc as curl reads it", arguments: lookups)
  func netrc(host: String, user: String?, expected: String) throws {
    let entry = try #require(Netrc(Array(Self.file.utf8))?.entry(for: host, user: user))
    #expect("\(entry.login):\(entry.password)" == expected)
  }

  @Test("A quote without its end makes the file none")
  func brokenNetrc() {
    #expect(Netrc(Array("machine h login \"a\nmachine h login b password c".utf8)) == nil)
    #expect(Netrc(Array("machine".utf8))?.entries.isEmpty == true)
  }

  @Test("The netrc file comes after what is stored, and is not read where others can")
  func netrcFile() {
    let path = directory.write("netrc", "machine h.test login n password np")
    chmod(path, 0o600)
    let storage = CredentialStorage(netrc: path)
    #expect(secret(storage.defaultCredential(for: SpacePattern(space))) == "n:np")
    #expect(storage.defaultCredential(for: SpacePattern(host: "h.test", method: "bearer")) == nil)
    storage.set(credential("a"), for: SpacePattern(space))
    #expect(secret(storage.defaultCredential(for: SpacePattern(space))) == "a:p")
    chmod(path, 0o644)
    #expect(CredentialStorage(netrc: path).defaultCredential(for: SpacePattern(space)) == nil)
  }

  // MARK: Commands

  static let answers: [(script: String, expected: String?)] = [
    ("printf 'username=u\\npassword=a=b\\n'", "u:a=b"), ("printf 'secret\\n'", "me:secret"),
    ("printf 'password=x'", "me:x"),
    ("grep -q '^realm=r$' && grep -q nothing; printf 'username=u\\npassword=p\\n'", "u:p"),
    ("sed -n 's/^host=/password=/p'", "me:h.test"), ("exit 3", nil), ("true", nil), ("printf 'username=u\\n'", nil),
    ("exec <&-; printf 's\\n'", "me:s"),
  ]

  @Test("A command's answer", arguments: answers)
  func command(script: String, expected: String?) {
    let command = CredentialCommand(arguments: ["sh", "-c", script], user: "me")
    #expect((try? command.run(for: space).get()).flatMap(secret) == expected)
  }

  @Test("A command that gives a token, that is not there, that takes too long")
  func commandEnds() {
    let token = CredentialCommand(arguments: ["printf", "token=t\n"])
    #expect((try? token.run(for: space).get())?.secret == .token("t"))
    #expect(CredentialCommand(arguments: ["/no/such/program"]).run(for: space) == .failure(.cannotStart(ENOENT)))
    let slow = CredentialCommand(arguments: ["sh", "-c", "sleep 60 & sleep 60"], user: "me", timeout: 0.2)
    let start = MonotonicClock.now
    #expect(slow.run(for: space) == .failure(.timedOut))
    #expect(MonotonicClock.now - start < 20)
  }

  @Test("A command that writes without end is ended, and its text is nobody's")
  func endlessCommand() {
    let start = MonotonicClock.now
    for words in [["yes", "geheim"], ["sh", "-c", "head -c 65537 /dev/zero | tr '\\0' x"]] {
      let result = CredentialCommand(arguments: words, user: "me", timeout: 60).run(for: space)
      #expect(result == .failure(.tooMuch))
    }
    #expect(MonotonicClock.now - start < 50)
    #expect(!CredentialCommand.Failure.tooMuch.text.contains("geheim"))
    let longest = CredentialCommand(
      arguments: ["sh", "-c", "head -c 65536 /dev/zero | tr '\\0' x"], user: "me", timeout: 60)
    #expect((try? longest.run(for: space).get()).flatMap(secret)?.utf8.count == 65536 + 3)
  }

  @Test("Bytes that are not UTF-8 are kept as they are, each for itself")
  func bytes() {
    let file = CredentialTable.file("\(directory.path)/credentials.sqlite")
    let (first, second) = (Octets(bytes: [0xE9]), Octets(bytes: [0xE8]))
    for (realm, other) in [(first, second), (second, first)] {
      let credential = Credential(.password(user: realm, password: other), persistence: .permanent)
      CredentialStorage(.file(file)).set(credential, for: SpacePattern(host: "h.test", realm: realm))
    }
    let found = CredentialStorage(.file(file)).credentials(for: SpacePattern(host: "h.test", realm: first))
    #expect(found.map(\.secret) == [.password(user: first, password: second)])
    var space = space
    space.realm = first
    #expect(CredentialCommand(arguments: ["x"]).question(for: space).contains(0xE9))
  }

  @Test("A line break in what a server sends is no line of the question")
  func question() {
    var space = space
    space.realm = "r\nhost=evil"
    space.port = 8443
    let text = String(decoding: CredentialCommand(arguments: ["x"]).question(for: space), as: UTF8.self)
    #expect(text == "protocol=https\nhost=h.test:8443\nauthentication_method=basic\n\n")
  }
}
