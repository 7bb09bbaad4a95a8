import Glibc
import Testing

@testable import SessionCore

@Suite struct CookieStorageTests {
  let directory: TemporaryDirectory
  let place = CookiePlace(isSecure: false, host: "app.test", path: "/")

  init() throws { directory = try TemporaryDirectory() }

  private var path: String { "\(directory.path)/cookies.sqlite" }

  private func set(_ line: String, in storage: CookieStorage) {
    Array(line.utf8).withUnsafeBytes { bytes in _ = storage.set(bytes, from: place) }
    storage.commit()
  }

  private func names(_ storage: CookieStorage) -> [String] {
    storage.refresh()
    return storage.all.map { String(decoding: $0.name, as: UTF8.self) }.sorted()
  }

  @Test("Cookies with a lifetime are there in the next run, and session cookies are not")
  func persistence() {
    let first = CookieStorage(path: path)
    set("kept=1; Max-Age=100; HttpOnly; SameSite=Strict", in: first)
    set("passing=1", in: first)
    #expect(names(first) == ["kept", "passing"])
    let second = CookieStorage(path: path)
    #expect(names(second) == ["kept"])
    #expect(second.all[0].isHTTPOnly && second.all[0].sameSite == .strict && second.all[0].isHostOnly)
    #expect(second.all.map(\.created) == first.all.filter { $0.expires != nil }.map(\.created))
  }

  @Test("Session cookies alone make no file")
  func noFile() {
    set("passing=1", in: CookieStorage(path: path))
    #expect(access(path, F_OK) != 0)
  }

  @Test("Two processes see each other's cookies")
  func sharing() {
    let (first, second) = (CookieStorage(path: path), CookieStorage(path: path))
    set("a=1; Max-Age=100", in: first)
    #expect(names(second) == ["a"])
    set("b=1; Max-Age=100", in: second)
    set("session=1", in: second)
    #expect(names(first) == ["a", "b"])
    set("a=; Max-Age=0", in: first)
    #expect(names(second) == ["b", "session"])
    set("b=2", in: second)
    #expect(names(first) == [])
    #expect(first.mayHold(MonotonicClock.now + 1) == false)
  }

  @Test("A damaged file in a directory of ours is replaced by what is in memory")
  func damage() {
    let ours = StorePlace.file(CookieTable.file(path))
    let storage = CookieStorage(ours)
    set("a=1; Max-Age=100", in: storage)
    let noise = [UInt8](repeating: 0x5A, count: 40_000)
    for suffix in ["", "-wal"] {
      let descriptor = open(path + suffix, O_WRONLY)
      pwrite(descriptor, noise, noise.count, 0)
      close(descriptor)
    }
    // A process that comes to it sets it aside; the one that was there finds out.
    let other = CookieStorage(ours)
    #expect(names(other) == [])
    set("b=1; Max-Age=100", in: storage)
    set("c=1; Max-Age=100", in: storage)
    #expect(names(storage) == ["a", "b", "c"])
    #expect(names(other) == ["a", "b", "c"])
    #expect(access(path + ".damaged", F_OK) == 0)
  }

  @Test("A file that a script names and that was never a database is left alone")
  func foreign() throws {
    let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
    #expect(write(descriptor, "my notes\n", 9) == 9)
    close(descriptor)
    #expect(DatabaseFile.isForeign(path))
    let storage = CookieStorage(path: path)
    set("a=1; Max-Age=100", in: storage)
    #expect(names(storage) == ["a"])
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_size == 9)
    #expect(access(path + ".damaged", F_OK) != 0)
    truncate(path, 0)
    #expect(!DatabaseFile.isForeign(path))
    set("b=1; Max-Age=100", in: CookieStorage(path: path))
    #expect(!DatabaseFile.isForeign(path))
    #expect(names(CookieStorage(path: path)) == ["b"])
  }

  @Test("No script's cookie is for all of a public suffix", arguments: ["com", "co.uk", "co.uk.", "localhost"])
  func publicSuffix(domain: String) throws {
    let storage = CookieStorage()
    var cookie = Cookie(name: Array("a".utf8), value: [], domain: domain, created: 1)
    cookie.isHostOnly = false
    #expect(storage.set(cookie) == .failure(.publicSuffix))
    #expect(storage.set(cookie, from: "example.\(domain)") == .failure(.publicSuffix))
    #expect(storage.all.isEmpty)
    #expect(try storage.set(cookie, from: domain).get().isHostOnly)
    #expect(storage.all.map(\.isHostOnly) == [true])
  }

  @Test("Without a directory cookies are kept in memory")
  func nowhere() {
    let storage = CookieStorage.standard(Directories { _ in nil })
    set("a=1; Max-Age=100", in: storage)
    #expect(names(storage) == ["a"])
  }

  @Test("The state directory is made with the first cookie that is kept")
  func standard() {
    let root = directory.path
    let storage = CookieStorage.standard(Directories { $0 == "XDG_STATE_HOME" ? root + "/state" : nil })
    #expect(!storage.mayHold(MonotonicClock.now))
    #expect(access(root + "/state", F_OK) != 0)
    set("a=1; Max-Age=100", in: storage)
    #expect(access(root + "/state/httpscript/cookies.sqlite", F_OK) == 0)
    for name in ["cookies.sqlite", "cookies.sqlite-wal", "cookies.sqlite-shm"] {
      unlink(root + "/state/httpscript/" + name)
    }
    rmdir(root + "/state/httpscript")
  }

  @Test("The directories of the XDG specification")
  func directories() {
    let home = Directories { $0 == "HOME" ? "/home/u" : nil }
    #expect(home.state == "/home/u/.local/state/httpscript")
    #expect(home.cache == "/home/u/.cache/httpscript")
    #expect(home.configuration == "/home/u/.config/httpscript")
    let given = Directories { $0 == "XDG_CACHE_HOME" ? "/c" : $0 == "XDG_STATE_HOME" ? "relative" : nil }
    #expect(given.cache == "/c/httpscript")
    #expect(given.state == nil)
  }
}
