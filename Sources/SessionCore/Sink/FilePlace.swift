import Glibc

/// The place of a file that is written under a temporary name, and that name.
enum FilePlace {
  /// The longest name that file systems take, in bytes.
  private static let longestName = 255
  private static let mostLinks = 16

  /// Where a path leads: symbolic links of the user's own (or root's) are followed to what they name, be it there or
  /// not. A link of somebody else's is replaced: it may have been put there to have another file overwritten.
  static func resolved(_ path: String) -> String {
    var status = stat()
    // A link to an open pipe, as /dev/stdout may be, names nothing that could be opened.
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { return path }
    var place = path
    for _ in 0..<mostLinks {
      guard lstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFLNK,
        status.st_uid == geteuid() || status.st_uid == 0, let target = target(of: place)
      else { return place }
      place = target.hasPrefix("/") ? target : directory(of: place) + target
    }
    return path
  }

  private static func target(of link: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { text in
      guard let start = text.baseAddress else { return nil }
      let count = readlink(link, start, Int(PATH_MAX))
      guard count > 0, count < Int(PATH_MAX) else { return nil }
      text[count] = 0
      return String(validatingCString: start)
    }
  }

  /// With its slash; empty for a name alone.
  private static func directory(of path: String) -> Substring {
    path[..<(path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex)]
  }

  /// The temporary name of a place, beside it. It follows from the place's name: what a killed process left is found.
  /// Of a name that is so long that no more can be added, the beginning and a digest are in it.
  static func temporaryPath(for place: String, suffix: String) -> String {
    let directory = directory(of: place)
    let name = place[directory.endIndex...]
    guard name.utf8.count + suffix.utf8.count + 1 > longestName else { return "\(directory).\(name)\(suffix)" }
    var beginning = name
    while beginning.utf8.count > longestName - suffix.utf8.count - 40 { beginning.removeLast() }
    let digest = Hexadecimal.encode(Hash.sha256.digest(of: Array(name.utf8)).prefix(16))
    return "\(directory).\(beginning)-\(digest)\(suffix)"
  }
}
