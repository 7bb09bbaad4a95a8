import CCurlShim
import Glibc
import TestSupport
import Testing

@testable import SessionCore

/// Whatever a server does, and whatever happens to the file meanwhile: what a download ends with is one whole version
/// of the file that the server had, or an error.
@Suite("Downloads from a server that breaks, lies and changes the file")
struct ResumePropertyTests {
  /// What became of a run.
  private enum End {
    case whole, page, error
  }

  private struct Run {
    let client: Client
    let directory: TemporaryDirectory
    var numbers: SeededNumbers
    var blob: Bytes?
    var part: String?
    var resumed = 0

    /// One task to its end.
    mutating func attempt(_ url: String) -> (Completion, location: String?) {
      client.forget()
      let id = client.start(Request(url: url)) {
        $0.destination = .download(resuming: blob)
        $0.interest = .progress
      }
      if numbers.oneIn(8), client.runUntil({ Self.isProgressOrEnd($0) }) { client.core.submit(.cancelTaskKeeping(id)) }
      let completion = client.finish(id)
      var location: String?
      for event in client.events {
        switch event {
        case .finishedDownloading(_, let path): location = path
        case .resumed: resumed += 1
        case .resumeData(_, let data, let file, let kept):
          client.core.submit(.keepDownload(part: file, kept: kept))
          (blob, part) = (data, kept)
        default: break
        }
      }
      return (completion, location)
    }

    private static func isProgressOrEnd(_ event: Event) -> Bool {
      switch event {
      case .progress, .completed: return true
      default: return false
      }
    }

    /// The file, or the resume data, may not be what it was.
    mutating func tamper() {
      if numbers.oneIn(12) { blob = nil }
      guard let part, numbers.oneIn(6) else { return }
      let descriptor = open(part, O_RDWR)
      guard descriptor >= 0 else { return }
      defer { close(descriptor) }
      let length = Int(lseek(descriptor, 0, SEEK_END))
      switch numbers.below(4) {
      case 0: ftruncate(descriptor, off_t(numbers.below(length + 1)))
      case 1: _ = "something else".withCString { write(descriptor, $0, 14) }
      case 2:
        var byte: UInt8 = 0
        let place = off_t(numbers.below(length))
        pread(descriptor, &byte, 1, place)
        byte ^= 1
        pwrite(descriptor, &byte, 1, place)
      default: unlink(part)
      }
    }
  }

  @Test("Two thousand seeded runs", arguments: 0..<8)
  func runs(lot: Int) throws {
    let files = LyingFiles()
    let server = try ScriptedServer(files.serve)
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    var ends: [End: Int] = [:]
    var resumed = 0
    let client = Client { $0.sharedContainer = directory.path }
    for seed in (lot * 250)..<(lot * 250 + 250) {
      let file = files.add("\(seed)", seed: UInt64(seed))
      var run = Run(client: client, directory: directory, numbers: SeededNumbers(seed: UInt64(seed) + 1_000_000))
      ends[try end(of: &run, server.url("/\(seed)"), files, file, seed), default: 0] += 1
      resumed += run.resumed
    }
    // It must not be right by never succeeding, nor by never going on.
    #expect(ends[.whole, default: 0] > 150, "\(ends)")
    #expect(resumed > 30, "\(resumed)")
  }

  private func end(
    of run: inout Run, _ url: String, _ files: LyingFiles, _ file: LyingFile, _ seed: Int
  ) throws -> End {
    for _ in 0..<8 {
      let (completion, location) = run.attempt(url)
      if completion.error != nil {
        run.tamper()
        continue
      }
      let path = try #require(location)
      defer { unlink(path) }
      guard completion.status == 200 || completion.status == 206 else { return .page }
      let bytes = Self.read(path)
      let isWhole = files.versions(file).contains(bytes)
      #expect(isWhole, "seed \(seed): \(bytes.count) bytes that the server never had")
      return .whole
    }
    return .error
  }

  private static func read(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var status = stat()
    fstat(descriptor, &status)
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    return count == bytes.count ? bytes : []
  }
}
