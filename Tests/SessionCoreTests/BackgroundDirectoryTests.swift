import Glibc
import TestSupport
import Testing

@testable import SessionCore

/// What a background session keeps on disk, without a session.
@Suite("The directory of a background session")
struct BackgroundDirectoryTests {
  private static func open(_ container: TestSupport.TemporaryDirectory, _ identifier: String = "a.b") throws
    -> BackgroundDirectory
  {
    try BackgroundDirectory.open(identifier: identifier, container: container.path).get()
  }

  private static func write(_ directory: BackgroundDirectory, _ number: Int, _ text: String) -> TaskError? {
    Array(text.utf8).withUnsafeBytes { directory.write(number, $0) }
  }

  private static func records(_ directory: BackgroundDirectory) -> [String] {
    directory.records().map { "\($0.number) \(String(decoding: $0.bytes, as: UTF8.self))" }
  }

  private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  @Test("No two identifiers have the same name, and none leads out of the directory")
  func names() {
    let identifiers = [
      "", "a", "A", ".", "..", "../a", "a/b", "a%2Fb", "%", "ä", "a b", String(repeating: "x", count: 200),
      String(repeating: "x", count: 201), String(repeating: "x", count: 202),
    ]
    let names = identifiers.map(BackgroundDirectory.fileName)
    #expect(Set(names).count == identifiers.count)
    #expect(names.allSatisfy { !$0.isEmpty && !$0.contains("/") && !$0.hasPrefix(".") && $0.utf8.count <= 255 })
    #expect(BackgroundDirectory.fileName("org.example.sync") == "org.example.sync")
  }

  @Test("Records come back in order; an empty directory goes when it is closed")
  func records() throws {
    let container = try TestSupport.TemporaryDirectory()
    var path = ""
    do {
      let directory = try Self.open(container)
      path = directory.path
      #expect(Self.write(directory, 10, "ten") == nil && Self.write(directory, 2, "two") == nil)
      #expect(Self.write(directory, 2, "another two") == nil)
    }
    do {
      let directory = try Self.open(container)
      #expect(Self.records(directory) == ["2 another two", "10 ten"])
      #expect(directory.highestNumber == 10)
      directory.remove(2, keepingFile: false)
      directory.remove(10, keepingFile: false)
      #expect(Self.records(directory) == [])
      directory.close()
    }
    #expect(!Self.exists(path))
  }

  @Test("One holder at a time, and another one for another identifier")
  func lock() throws {
    let container = try TestSupport.TemporaryDirectory()
    let held = try Self.open(container)
    let second = BackgroundDirectory.open(identifier: "a.b", container: container.path)
    guard case .failure(let problem) = second else { return #expect(Bool(false), "it was given twice") }
    #expect(problem.code == .backgroundSessionInUse)
    _ = try Self.open(container, "a.c")
    held.close()
    _ = try Self.open(container)
  }

  @Test("Any damaged byte, and any cut, sets a record aside; one of a later version stays as it is")
  func damage() throws {
    let container = try TestSupport.TemporaryDirectory()
    var directory = try Self.open(container)
    #expect(Self.write(directory, 1, "text") == nil)
    let path = directory.stem(1) + ".task"
    let good = try #require(Self.read(path))
    for place in 0..<(2 * good.count) {
      var bytes = good
      if place < good.count { bytes[place] ^= 1 } else { bytes.removeLast(place - good.count + 1) }
      #expect(BackgroundDirectory.replace(path, with: bytes) == nil)
      #expect(Self.records(directory) == [], "\(place)")
      #expect(Self.exists(path + ".damaged") && !Self.exists(path), "\(place)")
      unlink(path + ".damaged")
    }
    var later = Array(good.dropLast(32))
    later[16] += 1
    #expect(BackgroundDirectory.replace(path, with: later + Hash.sha256.digest(of: later)) == nil)
    #expect(Self.records(directory) == [] && directory.highestNumber == 1)
    directory.close()
    directory = try Self.open(container)
    #expect(Self.exists(path))
  }

  @Test("Files that belong to no task are swept; those of tasks, and what resume data refers to, stay")
  func sweep() throws {
    let container = try TestSupport.TemporaryDirectory()
    let directory = try Self.open(container)
    #expect(Self.write(directory, 1, "one") == nil)
    let names = ["1.download", "1.checkpoint", "2.download", "2.checkpoint", "3.task.new", "part-x.resume"]
    for name in names { #expect(BackgroundDirectory.replace("\(directory.path)/\(name)", with: [1]) == nil) }
    #expect(Self.records(directory) == ["1 one"])
    let left = names.filter { Self.exists("\(directory.path)/\($0)") }
    #expect(left == ["1.download", "1.checkpoint", "part-x.resume"])
    #expect(directory.fileLength(1) == 1 && directory.fileLength(2) == nil && directory.checkpoint(1) == [1])
  }

  private static func read(_ path: String) -> [UInt8]? {
    let descriptor = Glibc.open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return count >= 0 ? Array(bytes.prefix(count)) : nil
  }
}
