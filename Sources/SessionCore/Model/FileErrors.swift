import Glibc

/// Errors of the file system, in Apple's vocabulary, with errno and its text.
enum FileErrors {
  static func reading(_ path: String, _ number: Int32) -> TaskError {
    switch number {
    case ENOENT, ENOTDIR: return make(.fileDoesNotExist, "cannot read \(path)", number)
    case EISDIR: return make(.fileIsDirectory, "cannot read \(path)", number)
    case EACCES, EPERM: return make(.noPermissionsToReadFile, "cannot read \(path)", number)
    default: return make(.cannotOpenFile, "cannot read \(path)", number)
    }
  }

  static func creating(_ path: String, _ number: Int32) -> TaskError {
    make(number == EISDIR ? .fileIsDirectory : .cannotCreateFile, "cannot create \(path)", number)
  }

  static func writing(_ path: String, _ number: Int32) -> TaskError {
    make(.cannotWriteToFile, "cannot write to \(path)", number)
  }

  static func moving(_ path: String, _ number: Int32) -> TaskError {
    make(.cannotMoveFile, "cannot move the finished file to \(path)", number)
  }

  private static func make(_ code: TaskError.Code, _ what: String, _ number: Int32) -> TaskError {
    let text = String(cString: strerror(number))
    return TaskError(
      code, "\(what): \(text)",
      underlying: TaskError.Underlying(source: .errno, code: Int(number), message: text))
  }
}
