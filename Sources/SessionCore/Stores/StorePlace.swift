/// Where a store keeps what it has.
public enum StorePlace {
  /// In memory alone.
  case memory
  /// In a file.
  case file(DatabaseFile)
  /// It would be in a file, and no directory for it is known.
  case nowhere

  /// The whole path of the file.
  public var path: String? { if case .file(let file) = self { file.path } else { nil } }

  var isMemory: Bool { if case .memory = self { true } else { false } }

  /// Whether its file is there.
  var exists: Bool { if case .file(let file) = self { file.exists } else { false } }

  func open() -> Database? { if case .file(let file) = self { file.open() } else { nil } }

  func warn(_ text: String) {
    if case .file(let file) = self { file.warn("\(file.subject): \(file.path) \(text)") }
  }

  /// Says that something will not be remembered, where that was meant to be.
  func warnOfNowhere() {
    guard case .nowhere = self else { return }
    Warnings.tell(
      DatabaseFile.directorySubject,
      "neither XDG_STATE_HOME nor HOME names a directory: cookies and credentials are kept in memory only")
  }
}

extension CookieStorage {
  /// The storage of default sessions, in the user's state directory.
  public static func standard(_ directories: Directories = .standard) -> CookieStorage {
    guard let state = directories.state else { return CookieStorage(.nowhere) }
    return CookieStorage(.file(CookieTable.file(state + "/cookies.sqlite", makesDirectory: true)))
  }

  /// A storage in a file that a script names.
  public convenience init(path: String) { self.init(.file(CookieTable.file(path, isGiven: true))) }
}
