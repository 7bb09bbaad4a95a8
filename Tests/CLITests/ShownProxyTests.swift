import TestSupport
import Testing

/// Proxies whose URLs are no URLs, or nearly none: their passwords are shown nowhere.
@Suite struct ShownProxyTests {
  @Test(
    "the password of a proxy of the environment is in no error, however badly its URL is written",
    arguments: [
      "http://ann:my s3cret@127.0.0.1:1", "http://ann:s3cret\t@127.0.0.1:1", "http://ann:s3cret@127.0.0.1:99999",
      "http://ann:s3cret @[::1", "s3cret@ ", "gopher://ann:s3cret @127.0.0.1:1",
      "http://ann:" + String(repeating: "s3cret ", count: 60) + "@127.0.0.1:1",
    ])
  func environment(proxy: String) async throws {
    let script = """
      local json = require "json"
      for _, url in ipairs { "http://localhost:1/x", "https://localhost:1/x" } do
        local r, err = http.get(url)
        print(r, tostring(err), err.message, err.underlying and json.encode(err.underlying))
      end
      local task = http.shared:stream_task("localhost", 1)
      task:resume()
      print(task:write("x"))
      """
    let result = try await runScript(script) {
      $0.environment = ["http_proxy": proxy, "https_proxy": proxy]
      $0.options = ["-v"]
    }
    #expect(result.lines.count == 3 && result.lines.allSatisfy { $0.hasPrefix("nil\t") }, "\(result)")
    #expect(!result.stdout.contains("s3cret") && !result.stderr.contains("s3cret"), "\(result)")
  }
}
