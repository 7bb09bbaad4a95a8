import Glibc
import Testing

@testable import httpscript

/// The file of former lines.
@Suite struct HistoryTests {
  /// A directory that goes with the test.
  final class Directory {
    let path: String

    init() {
      var template = Array("/tmp/httpscript-history-XXXXXX".utf8CString)
      mkdtemp(&template)
      path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
      unlink(path + "/state/httpscript/history")
      rmdir(path + "/state/httpscript")
      rmdir(path + "/state")
      rmdir(path)
    }

    var history: History { History { $0 == "XDG_STATE_HOME" ? self.path + "/state" : nil } }

    func mode(_ name: String) -> mode_t {
      var status = stat()
      return stat(path + name, &status) == 0 ? status.st_mode & 0o777 : 0
    }
  }

  private func bytes(_ lines: String...) -> [[UInt8]] { lines.map { Array($0.utf8) } }

  @Test("lines come back, for the user's eyes only")
  func roundTrip() {
    let directory = Directory()
    let first = directory.history
    #expect(first.load().isEmpty)
    for line in bytes("a", "b ü", "a") { #expect(first.add(line)) }
    #expect(directory.history.load() == bytes("a", "b ü", "a"))
    #expect(directory.mode("/state/httpscript/history") == 0o600)
    #expect(directory.mode("/state/httpscript") == 0o700)
  }

  @Test("what is empty, the same again or begins with a space is not kept")
  func left() {
    let directory = Directory()
    let history = directory.history
    #expect(history.add(Array("a".utf8)))
    for line in bytes("", "a", " secret") { #expect(!history.add(line)) }
    #expect(directory.history.load() == bytes("a"))
    let next = directory.history
    _ = next.load()
    #expect(!next.add(Array("a".utf8)))
  }

  @Test("a file that has grown is cut down, and its mode corrected")
  func bound() {
    let directory = Directory()
    let writer = directory.history
    for number in 1...(History.limit * 2) { _ = writer.add(Array("\(number)".utf8)) }
    chmod(directory.path + "/state/httpscript/history", 0o644)
    let kept = directory.history.load()
    #expect(kept.count == History.limit && kept.last == Array("\(History.limit * 2)".utf8))
    #expect(directory.history.load() == kept)
    #expect(directory.mode("/state/httpscript/history") == 0o600)
    #expect(directory.mode("/state/httpscript/history.new") == 0)
  }

  @Test("without a place lines are kept for this dialogue only")
  func nowhere() {
    for environment in [[:], ["HOME": ""], ["XDG_STATE_HOME": "relative"], ["HOME": "relative"]] {
      let history = History { environment[$0] }
      #expect(history.add(Array("a".utf8)))
      #expect(History { environment[$0] }.load().isEmpty)
    }
  }

  @Test("the place is the one XDG gives")
  func home() {
    let directory = Directory()
    let history = History { $0 == "HOME" ? directory.path + "/state" : nil }
    #expect(history.add(Array("a".utf8)))
    let file = directory.path + "/state/.local/state/httpscript/history"
    #expect(access(file, F_OK) == 0)
    unlink(file)
    for end in ["/.local/state/httpscript", "/.local/state", "/.local"] { rmdir(directory.path + "/state" + end) }
  }
}
