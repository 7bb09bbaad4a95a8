import Glibc
import LuaBridge

/// Standard input, output and error as they were given to the process.
enum StandardStreams {
  /// Opens nothing in place of those that are closed: otherwise a connection would get such a number, and what the
  /// script prints would go there.
  static func open() {
    while true {
      let descriptor = Glibc.open("/dev/null", O_RDWR)
      if descriptor > STDERR_FILENO { close(descriptor) }
      if descriptor > STDERR_FILENO || descriptor < 0 { return }
    }
  }

  /// Output that could not be written fails a script that would otherwise have been done.
  ///
  /// - Returns: the exit status, given the one of the script.
  static func finish(_ status: Int32) -> Int32 {
    guard status == 0, let failure = Output.flush() else { return status }
    if failure == 1 { Program.complain("cannot write to standard output") }
    return failure
  }
}
