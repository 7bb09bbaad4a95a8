import Glibc

/// Where things are kept, by the XDG Base Directory Specification: each is `httpscript` in the directory that the
/// environment names, or in the specification's place in the home directory. Nil where neither is known: then nothing
/// is kept on disk.
public struct Directories: Sendable {
  /// What is remembered between runs: cookies, credentials, HSTS, the history of dialogues.
  public let state: String?
  /// What can be had again: responses.
  public let cache: String?
  /// What the user writes.
  public let configuration: String?

  /// Those of this process.
  public static var standard: Directories {
    Directories { name in getenv(name).map { String(cString: $0) } }
  }

  /// - Parameter environment: looks a variable up.
  public init(environment: (String) -> String?) {
    let home = environment("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    func directory(_ variable: String, _ usual: String) -> String? {
      // A path that is not absolute must be ignored, says the specification.
      if let given = environment(variable), given.hasPrefix("/") { return given + "/httpscript" }
      return home.map { $0 + usual + "/httpscript" }
    }
    state = directory("XDG_STATE_HOME", "/.local/state")
    cache = directory("XDG_CACHE_HOME", "/.cache")
    configuration = directory("XDG_CONFIG_HOME", "/.config")
  }

  /// Makes a directory and those above it, for the user alone, unless it is there. Returns errno, 0 for success.
  public static func make(_ path: String) -> Int32 {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return 0 }
    guard errno == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
      return errno
    }
    let problem = make(String(path[..<slash]))
    if problem != 0 { return problem }
    return mkdir(path, 0o700) == 0 || errno == EEXIST ? 0 : errno
  }
}
