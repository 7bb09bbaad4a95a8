import Foundation
import TestSupport
import Testing

/// The specs of the standard library, run by the executable (Tests/Lua/run.lua).
@Suite struct LuaSpecTests {
  @Test func specs() async throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    var run = Executable(.none, arguments: [tests.appendingPathComponent("Lua/run.lua").path])
    run.deadline = 120
    let result = try await run.run()
    print(result.stdout)
    #expect(result.ending == .exited(0), "\(result)")
    #expect(result.lines.last?.hasSuffix(" passed, 0 failed") == true)
  }
}
