import Testing

@testable import LuaBridge
@testable import SessionCore

/// Jobs, waiting and the end of the process, without a network. Each script asserts for itself.
@Suite struct SchedulerTests {
  private static let scripts: [(name: String, text: String)] = [
    ("a call waits and returns", "local r = assert(http.get('http://h/a')) assert(r.body == 'http://h/a')"),
    (
      "fields are found in any case and repeated ones joined",
      "local r = http.get('http://h/') assert(r.headers['x-TWO'] == '1, 2') assert(#r.headers:get_all('X-Two') == 2)"
    ),
    (
      "jobs run concurrently and give their results",
      """
      local jobs = {}
      for i = 1, 3 do jobs[i] = http.spawn(function(a) http.sleep(0.002 * (4 - i)) return i, a end, 'x') end
      for i = 1, 3 do local n, a = jobs[i]:wait() assert(n == i and a == 'x') end
      """
    ),
    (
      "a failed job gives nil and the error",
      """
      local job = http.spawn(function() error('boom') end)
      local value, err = job:wait()
      assert(value == nil and err.domain == 'script' and tostring(err):find('boom') and job.state == 'failed')
      """
    ),
    (
      "a cancelled job raises where it waits, and waiting for it gives cancelled",
      """
      local seen
      local job = http.spawn(function() local ok, e = pcall(http.sleep, 60) seen = e.code error(e, 0) end)
      http.sleep(0)
      job:cancel()
      local value, err = job:wait()
      assert(value == nil and err.code == 'cancelled' and job.state == 'cancelled')
      http.sleep(0)
      http.sleep(0)
      assert(seen == 'cancelled')
      """
    ),
    (
      "map keeps the order and the limit",
      """
      local busy, most = 0, 0
      local out = http.map({ 5, 4, 3, 2, 1 }, 2, function(n, ...)
        assert(select('#', ...) == 0)
        busy = busy + 1 most = math.max(most, busy)
        http.sleep(n * 0.001)
        busy = busy - 1
        return n * 10
      end)
      assert(table.concat(out, ',') == '50,40,30,20,10' and most == 2 and out.n == 5)
      """
    ),
    (
      "map takes an iterator that waits, and raises what fn raises",
      """
      local it = coroutine.wrap(function() for i = 1, 4 do http.sleep(0) coroutine.yield(i) end end)
      assert(table.concat(http.map(it, 3, function(n) return n end), ',') == '1,2,3,4')
      local ok, e = pcall(http.map, { 1, 2 }, 1, function(n) error('bad ' .. n, 0) end)
      assert(not ok and e == 'bad 1')
      """
    ),
    (
      "with_timeout gives results, timed_out, or raises",
      """
      assert(select('#', http.with_timeout(1, function(...) return ... end, 1, nil)) == 2)
      local v, e = http.with_timeout(0.005, http.sleep, 60)
      assert(v == nil and e.code == 'timed_out')
      assert(not pcall(http.with_timeout, 1, error, 'x'))
      """
    ),
    (
      "waits pass through the script's own coroutines",
      """
      local function pages() for i = 1, 3 do coroutine.yield(http.get('http://h/' .. i).body) end end
      local seen = {}
      for body in coroutine.wrap(pages) do seen[#seen + 1] = body:sub(-1) end
      assert(table.concat(seen) == '123')
      local co = coroutine.create(function(a) local b = coroutine.yield(a + 1) http.sleep(0) return b * 2 end)
      local ok, x = coroutine.resume(co, 1)
      assert(ok and x == 2)
      ok, x = coroutine.resume(co, 21)
      assert(ok and x == 42 and coroutine.status(co) == 'dead')
      """
    ),
    (
      "waits work inside pcall, metamethods, iterators and close-less loops",
      """
      local ok, e = pcall(function() http.sleep(0) error({ n = 1 }) end)
      assert(not ok and e.n == 1)
      local t = setmetatable({}, { __index = function(_, k) return http.get('http://h/' .. k).body end,
        __add = function() http.sleep(0) return 7 end })
      assert(t.page == 'http://h/page' and t + 1 == 7)
      for v in function(_, i) http.sleep(0) i = (i or 0) + 1 if i < 3 then return i end end do assert(v) end
      """
    ),
    (
      "a wait under a C function that cannot yield is an error at the caller's line",
      """
      local ok, e = pcall(table.sort, { 2, 1 }, function(a, b) http.sleep(0) return a < b end)
      assert(not ok and e:find('test:2: cannot wait here'), e)
      local co = coroutine.wrap(function() http.sleep(0) end)
      ok, e = pcall(string.gsub, 'x', 'x', function() co() end)
      assert(not ok and e:find('cannot wait here'), e)
      """
    ),
    (
      "a coroutine that waits cannot be resumed by another job",
      """
      local co = coroutine.create(function() http.sleep(0.01) return 'done' end)
      local job = http.spawn(function() return coroutine.resume(co) end)
      http.sleep(0)
      local ok, e = coroutine.resume(co)
      assert(not ok and e == 'cannot resume non-suspended coroutine' and coroutine.status(co) == 'normal')
      ok, e = job:wait()
      assert(ok and e == 'done')
      """
    ),
    (
      "a bare yield goes on at the next turn",
      "local n = 0 for i = 1, 3 do coroutine.yield() n = n + 1 end assert(n == 3)"
    ),
    (
      "a deep recursion of waits ends in an error, not a crash",
      """
      local function nest(n) return coroutine.wrap(function() http.sleep(0) return nest(n + 1) end)() end
      local ok, e = pcall(nest, 1)
      assert(not ok and tostring(e):find('overflow'), e)
      """
    ),
  ]

  @Test(arguments: scripts.map(\.name)) func script(_ name: String) throws {
    let text = try #require(Self.scripts.first { $0.name == name }).text
    let run = try ScriptRun("local http = require 'http'\n" + text)
    #expect(run.ending == .done, "\(run.reports)")
    #expect(run.references == 0)
  }

  @Test func uncaughtErrorInTheMainChunkFailsWithTraceback() throws {
    let run = try ScriptRun("local function f() error('boom') end\nf()")
    #expect(run.ending == .failed)
    #expect(run.reports.count == 1)
    #expect(run.reports[0].contains("test:1: boom"))
    #expect(run.reports[0].contains("stack traceback:"))
  }

  @Test func anErrorObjectIsShownAsItsLine() throws {
    let run = try ScriptRun("local http = require 'http' assert(http.get('http://h/', { headers = { A = 'x\\n' } }))")
    #expect(run.ending == .failed)
    #expect(run.reports.first?.contains("bad_url: header 'A' has a line break") == true)
  }

  @Test func aFailedJobThatNobodyWaitsForFailsTheScript() throws {
    let run = try ScriptRun("require('http').spawn(function() error('lost') end)")
    #expect(run.ending == .failed)
    #expect(run.reports.count == 1)
    #expect(run.reports[0].contains("test:1: lost"))
  }

  @Test func waitingForWhatCannotHappenIsReported() throws {
    let run = try ScriptRun(
      "local http = require 'http' local job job = http.spawn(function() job:wait() end) job:wait()")
    #expect(run.ending == .failed)
    #expect(run.reports.contains { $0.contains("cannot happen") })
  }

  @Test func syntaxErrorsAreThrown() throws {
    #expect(throws: ScriptError.self) { try ScriptRun("x = = 1") }
  }
}
