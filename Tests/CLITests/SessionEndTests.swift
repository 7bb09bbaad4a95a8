import TestSupport
import Testing

/// What becomes of sessions when nobody holds them any more.
@Suite struct SessionEndTests {
  private static let page = "local page = base .. '/index.html'\n"

  @Test func aDroppedSessionGivesItsConnectionsBack() async throws {
    let site = try Nginx.documentation.get()
    try await expectScript(
      Self.page
        + """
        local function descriptors()
          local pid, count = io.open("/proc/self/stat"):read("n"), 0
          for _ in io.popen("ls /proc/" .. pid .. "/fd"):lines() do count = count + 1 end
          return count
        end
        local function use() assert(http.session {}:get(page)) end
        local function settle() collectgarbage() collectgarbage() http.sleep(0) end
        use()
        settle()
        local before = descriptors()
        for _ = 1, 100 do use() end
        settle()
        print(descriptors() - before < 20)
        """, [site.url], prints: ["true"])
  }

  @Test func theEndOfASessionIsToldThoughNobodyHoldsIt() async throws {
    let site = try Nginx.documentation.get()
    try await expectScript(
      Self.page
        + """
        local session = http.session({}, { did_become_invalid = function(_, err) print("ended", err) end })
        assert(session:get(page))
        session:finish_tasks_and_invalidate()
        session = nil
        collectgarbage()
        """, [site.url], prints: ["ended\tnil"])
  }
}
