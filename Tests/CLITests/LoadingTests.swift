import TestSupport
import Testing

/// Libraries are loaded when something of theirs is first used.
@Suite struct LoadingTests {
  /// Prints which of the libraries that may come late are loaded.
  static let listing = """
    local loaded = {}
    for line in io.lines("/proc/self/maps") do
      local name = line:match("/lib(%w+)%.so")
      if name then loaded[name] = true end
    end
    for _, name in ipairs { "curl", "xml2", "jansson", "z", "brotlidec", "zstd", "ssl", "crypto", "psl", "sqlite3" } do
      if loaded[name] then print(name) end
    end
    """

  @Test("a script that uses no network loads no network library, nor any other it does not use")
  func nothing() async throws {
    for use in ["", "require 'http'", "require 'http.html'", "require 'http.crawl'"] {
      let result = try await Executable(.file(use + " " + Self.listing)).run()
      #expect(result.lines == [] && result.ending == .exited(0), "\(use): \(result)")
    }
  }

  @Test("what is used is loaded")
  func used() async throws {
    let result = try await Executable(.file("require('json').decode('[]') " + Self.listing)).run()
    #expect(result.lines == ["jansson"], "\(result)")
  }

  @Test("a library that is missing is said to be, with status 1")
  func missing() async throws {
    let directory = try TemporaryDirectory()
    try directory.write("libxml2.so.2", "no library")
    var run = Executable(.file("print('begun') require('http.html').parse('<p>')"))
    run.environment["LD_LIBRARY_PATH"] = directory.path
    let result = try await run.run()
    #expect(result.ending == .exited(1) && result.lines == ["begun"], "\(result)")
    #expect(result.stderr.contains("a library is missing") && result.stderr.contains("libxml2"), "\(result)")
  }
}
