import Glibc

/// A credential storage (`URLCredentialStorage`): what is to be kept for the session in memory, what is permanent in a
/// file that only the user can read; and where neither has one, what the netrc file says.
///
/// Belongs to the thread that runs transfers. Challenges are rare, so that the files are read when they are asked.
public final class CredentialStorage {
  /// A program that is asked for credentials that are not stored.
  public let command: CredentialCommand?
  private let file: StoreFile
  private let netrcPath: String?
  /// Permanent credentials are to be in the user's keyring where there is one, and in the file where not.
  private let prefersKeyring: Bool
  var keyring = KeyringCopy()
  private var entries: [Entry] = []
  private var lastLook = -Double.infinity
  private var hasFile = false

  /// How old, in seconds, the knowledge may be that there is no file.
  private static let staleness = 1.0

  /// A credential and what it is for.
  public struct Entry: Equatable, Sendable {
    public var pattern: SpacePattern
    public var credential: Credential
    public var isDefault: Bool
  }

  public init(
    _ place: StorePlace = .memory, netrc: String? = nil, command: CredentialCommand? = nil, keyring: Bool = false
  ) {
    prefersKeyring = keyring
    file = StoreFile(place)
    netrcPath = netrc
    self.command = command
  }

  /// The storage of default sessions, in the user's state directory.
  public static func standard(_ directories: Directories = .standard) -> CredentialStorage {
    guard let state = directories.state else { return CredentialStorage(.nowhere, keyring: true) }
    let file = CredentialTable.file(state + "/credentials.sqlite", makesDirectory: true)
    return CredentialStorage(.file(file), keyring: true)
  }

  /// A file of that kind that a script names.
  public static func file(_ path: String) -> DatabaseFile { CredentialTable.file(path, isGiven: true) }

  /// Where the file is; nil for a storage in memory.
  public var path: String? { file.place.path }

  /// Why a file that holds secrets must not be used; nil where it may, or is not there.
  public static func problem(withSecretFile path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
    return "others can read or change \(path); make it mode 0600"
  }

  // MARK: Transfers

  /// Whether some challenge may be answered from here: a look at the file from time to time, and no more.
  func mayHold(_ now: Double) -> Bool {
    if !entries.isEmpty || netrcPath != nil || command != nil || usesKeyring { return true }
    if now - lastLook > Self.staleness {
      lastLook = now
      hasFile = file.place.exists
    }
    return hasFile
  }

  /// What is used in a space unless a handler says otherwise, and proposed to the handler.
  func defaultCredential(for space: ProtectionSpace) -> Credential? {
    let pattern = SpacePattern(space)
    return preferred(matches(pattern).filter { $0.credential.secret.isAnswer(to: space.method) })
      ?? netrcCredential(for: pattern)
  }

  /// The same where a user is named: that one's.
  func credential(for space: ProtectionSpace, of user: Octets?) -> Credential? {
    guard let user else { return defaultCredential(for: space) }
    let pattern = SpacePattern(space)
    let wanted = Credential.Secret.password(user: user, password: "")
    return matches(pattern).map(\.credential).first { $0.secret.isSameUser(wanted) }
      ?? user.text.flatMap { netrcCredential(for: pattern, user: $0) }
  }

  private func preferred(_ found: [Entry]) -> Credential? { (found.first { $0.isDefault } ?? found.first)?.credential }

  /// A handler's credential has been accepted there.
  func accepted(_ credential: Credential, in space: ProtectionSpace) {
    let pattern = SpacePattern(space)
    if !credentials(for: pattern).contains(credential) { set(credential, for: pattern) }
  }

  // MARK: Storing

  /// Stores a credential, in place of the one of the same user. Persistence `none` stores nothing.
  public func set(_ credential: Credential, for pattern: SpacePattern, isDefault: Bool = false) {
    if case .serverTrust = credential.secret { return }
    forget(credential, for: pattern)
    let entry = Entry(pattern: pattern, credential: credential, isDefault: isDefault)
    if credential.persistence == .permanent {
      if usesKeyring { return keyring.put(entry) }
      // One transaction takes the old one's place, so that there is always one.
      if keep(entry) { return }
    }
    removeFromFile(credential, for: pattern)
    if usesKeyring { keyring.remove(credential.secret, for: pattern) }
    if credential.persistence == .none { return }
    if isDefault { forEachEntry(of: pattern) { $0.isDefault = false } }
    entries.append(entry)
  }

  /// Removes the credential of that user, whatever its secret and persistence. Returns whether there was one.
  @discardableResult
  public func remove(_ credential: Credential, for pattern: SpacePattern) -> Bool {
    let wasInMemory = forget(credential, for: pattern)
    let wasInFile = removeFromFile(credential, for: pattern)
    let wasInKeyring = usesKeyring && keyring.remove(credential.secret, for: pattern)
    return wasInMemory || wasInFile || wasInKeyring
  }

  /// Removes it from memory.
  @discardableResult
  private func forget(_ credential: Credential, for pattern: SpacePattern) -> Bool {
    let count = entries.count
    entries.removeAll { $0.pattern == pattern && $0.credential.secret.isSameUser(credential.secret) }
    return entries.count < count
  }

  @discardableResult
  private func removeFromFile(_ credential: Credential, for pattern: SpacePattern) -> Bool {
    var isRemoved = false
    withTable { table throws(DatabaseProblem) in isRemoved = try table.remove(credential, for: pattern) }
    return isRemoved
  }

  /// Removes everything; the netrc file is not touched.
  public func removeAll() {
    entries.removeAll()
    if usesKeyring { keyring.removeAll() }
    withTable { table throws(DatabaseProblem) in try table.removeAll() }
  }

  // MARK: Finding

  /// The credentials for what the pattern stands for: those that name it most precisely first, of these the latest; the
  /// netrc file's comes last.
  public func credentials(for pattern: SpacePattern) -> [Credential] {
    var found: [Credential] = []
    let stored = matches(pattern).map(\.credential) + [netrcCredential(for: pattern)].compactMap { $0 }
    for credential in stored where !found.contains(where: { $0.secret.isSameUser(credential.secret) }) {
      found.append(credential)
    }
    return found
  }

  /// The one that is used unless something else is said: the default, or else the first. Where none is stored, the netrc
  /// file's.
  public func defaultCredential(for pattern: SpacePattern) -> Credential? {
    preferred(matches(pattern)) ?? netrcCredential(for: pattern)
  }

  /// What the netrc file has for a host, and for a user where one is given. A proxy is a host like any other.
  func netrcCredential(for pattern: SpacePattern, user: String? = nil) -> Credential? {
    guard let netrcPath, pattern.method.map(Self.takesPassword) ?? true else { return nil }
    if let problem = Self.problem(withSecretFile: netrcPath) {
      Warnings.tell(netrcPath, "the netrc file is not used: \(problem)")
      return nil
    }
    guard let text = SecretFile.read(netrcPath), let entry = Netrc(text)?.entry(for: pattern.host, user: user) else {
      return nil
    }
    if entry.isUnreadable {
      let text = "its entry for \(pattern.host) is not UTF-8, or has NUL in it"
      Warnings.tell(netrcPath + text, "the netrc file is not used: \(text)")
      return nil
    }
    return Credential(.password(user: Octets(entry.login), password: Octets(entry.password)), persistence: .none)
  }

  /// Whether a scheme takes user and password.
  static func takesPassword(_ method: String) -> Bool { AuthScheme(name: method) != nil }

  func matches(_ pattern: SpacePattern) -> [Entry] {
    var all: [Entry] = []
    withTable { table throws(DatabaseProblem) in
      try table.entries(of: pattern.host, isProxy: pattern.isProxy) { if $0.pattern.covers(pattern) { all.append($0) } }
    }
    all += (keyring.entries(of: KeyringParty(pattern)) + entries).filter { $0.pattern.covers(pattern) }
    return all.enumerated().sorted { a, b in
      let (first, second) = (a.element.pattern.precision, b.element.pattern.precision)
      return first != second ? first > second : a.offset > b.offset
    }.map(\.element)
  }

  private func forEachEntry(of pattern: SpacePattern, _ body: (inout Entry) -> Void) {
    for index in entries.indices where entries[index].pattern == pattern { body(&entries[index]) }
  }

  // MARK: The keyring

  /// There may be a keyring for this storage.
  public var usesKeyring: Bool { prefersKeyring && Keyring.mayBeThere }

  /// The keyring has answered; nil: it would not. What it does not keep goes to the file.
  func keyringDid(_ work: Keyring.Work, _ found: [Entry]?) {
    if case .find(let party) = work { return keyring.read(found ?? [], of: party, now: MonotonicClock.now) }
    keyring.confirm(isDone: found != nil)
    guard case .put(let entry) = work else { return }
    if found != nil {
      removeFromFile(entry.credential, for: entry.pattern)
    } else if !keep(entry) {
      entries.append(entry)
    }
  }

  // MARK: The file

  /// Writes a permanent credential. False: it has to be kept in memory.
  private func keep(_ entry: Entry) -> Bool {
    if file.place.isMemory { return false }
    let isKept = withTable(making: true) { table throws(DatabaseProblem) in try table.put(entry) }
    if !isKept { file.place.warnOfNowhere() }
    return isKept
  }

  @discardableResult
  private func withTable(making: Bool = false, _ body: (CredentialTable) throws(DatabaseProblem) -> Void) -> Bool {
    file.use(making: making) { database throws(DatabaseProblem) in try body(CredentialTable(database: database)) }
  }
}

extension Credential.Secret {
  /// Whether a challenge of this scheme takes what is of this kind.
  func isAnswer(to method: String) -> Bool {
    switch self {
    case .password: AuthScheme(name: method) != nil
    case .token:
      AuthScheme(name: method) == nil
        && ![ProtectionSpace.serverTrust, ProtectionSpace.clientCertificate].contains(method)
    case .certificate: method == ProtectionSpace.clientCertificate
    case .serverTrust: method == ProtectionSpace.serverTrust
    }
  }

  /// Whether the two are of one user, so that one replaces the other.
  func isSameUser(_ other: Credential.Secret) -> Bool {
    switch (self, other) {
    case (.password(let a, _), .password(let b, _)): a == b
    case (.certificate(let a, _, _), .certificate(let b, _, _)): a == b
    case (.token, .token), (.serverTrust, .serverTrust): true
    default: false
    }
  }
}
