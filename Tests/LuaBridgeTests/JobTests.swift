import Testing

@testable import LuaBridge
@testable import SessionCore

/// Jobs and scopes where it gets difficult. Each script asserts for itself.
@Suite struct JobTests {
  private static let scripts: [(name: String, text: String)] = [
    (
      "map raises at once what fn raises, while others are in flight",
      """
      local started, ended = http.now(), 0
      local ok, e = pcall(http.map, { 1, 2, 3, 4 }, 2, function(i)
        if i == 2 then error('bad', 0) end
        http.sleep(60)
        ended = ended + 1
      end)
      assert(not ok and e == 'bad' and ended == 0 and http.now() - started < 5)
      """
    ),
    (
      "map takes holes, a limit beyond the number of items, and iterators under any limit",
      """
      local r = http.map({ 1, nil, 3 }, 1, function(x) return x or 'hole' end)
      assert(r.n == 3 and r[2] == 'hole' and r[3] == 3)
      assert(http.map({}, 5, error).n == 0 and http.map({ 1, 2 }, 5, function() end).n == 2)
      local n = 0
      local function items() n = n + 1 if n < 5 then return n end end
      assert(http.map(items, math.maxinteger, function(x) return x end).n == 4)
      local ok, e = pcall(http.map, function() error('items', 0) end, 3, print)
      assert(not ok and e == 'items')
      """
    ),
    (
      "what is raised inside is raised outside as it was",
      """
      local _, problem = http.get('x', { headers = { A = '\\n' } })
      problem.value = 'inner'
      for _, value in ipairs { problem, false, 'text', 1 } do
        local ok, e = pcall(http.with_timeout, 1, error, value, 0)
        assert(not ok and rawequal(e, value))
        ok, e = pcall(http.map, { 1 }, 1, function() error(value, 0) end)
        assert(not ok and rawequal(e, value))
      end
      local ok, e = pcall(http.with_timeout, 1, error)
      assert(not ok and e == nil)
      local _, err = http.spawn(error, problem):wait()
      assert(rawequal(err, problem))
      """
    ),
    (
      "a job that cancels itself is interrupted where it waits next",
      """
      local job, caught
      job = http.spawn(function() job:cancel() job:cancel() caught = table.pack(pcall(http.sleep, 60)) end)
      local _, err = job:wait()
      http.sleep(0)
      assert(err.code == 'cancelled' and not caught[1] and caught[2].code == 'cancelled')
      """
    ),
    (
      "a job cancelled before it ran does not run, one that yields is interrupted",
      """
      local job = http.spawn(error, 'ran')
      job:cancel()
      assert(select(2, job:wait()).code == 'cancelled')
      local caught
      job = http.spawn(function()
        caught = select(2, pcall(function() while true do coroutine.yield() end end))
      end)
      http.sleep(0)
      job:cancel()
      for _ = 1, 5 do http.sleep(0) end
      assert(caught.code == 'cancelled')
      """
    ),
    (
      "an inner job goes with the outer one, also when the one between has ended",
      """
      local inner
      local outer = http.spawn(function()
        http.spawn(function() inner = http.spawn(http.sleep, 60) end)
        http.sleep(60)
      end)
      http.sleep(0.01)
      assert(inner.state == 'running')
      outer:cancel()
      assert(inner.state == 'cancelled')
      """
    ),
    (
      "a parked fiber is nobody else's to resume",
      """
      local co
      local job = http.spawn(function() co = coroutine.running() http.sleep(0.01) return 'done' end)
      http.sleep(0)
      local ok, e = coroutine.resume(co)
      assert(not ok and e == 'cannot resume non-suspended coroutine' and coroutine.status(co) == 'normal')
      assert(not pcall(coroutine.close, co) and job:wait() == 'done')
      """
    ),
    (
      "a sleep without end is one that can be cancelled",
      """
      local v, e = http.with_timeout(0.01, http.sleep, math.huge)
      assert(v == nil and e.code == 'timed_out')
      """
    ),
    (
      "a handler cannot wait for its own task",
      """
      local seen
      local session = http.session(nil, { did_complete = function(_, task) seen = select(2, pcall(task.wait, task)) end })
      local task = session:data_task('http://h/')
      task:resume()
      assert(task:wait() and seen:find('test:%d+: a handler cannot wait for the end of its own task'))
      """
    ),
    (
      "absurd arguments to the core's functions do no harm",
      """
      local core = require 'httpscript.core'
      http.session():data_task('http://h/')
      local absurd = { -1, 0, math.mininteger, math.maxinteger, 0 / 0, math.huge, '', {}, print, true }
      local skipped = { uncaught = true, timer = true, start = true, call = true }
      for name, fn in pairs(core) do
        for _, a in ipairs(skipped[name] and {} or absurd) do
          for _, b in ipairs(absurd) do pcall(fn, a, b, a, b) end
        end
      end
      assert(not pcall(core.timer, 0 / 0) and core.cancel_timer(core.timer(1e308)) == nil)
      core.start(math.mininteger, 1, 'GET', 'http://h/')
      http.sleep(0)
      """
    ),
  ]

  @Test(arguments: scripts.map(\.name)) func script(_ name: String) throws {
    let text = try #require(Self.scripts.first { $0.name == name }).text
    let run = try ScriptRun("local http = require 'http'\n" + text)
    #expect(run.ending == .done, "\(run.reports)")
    #expect(run.references == 0)
  }

  @Test func aJobThatSomebodyGaveUpWaitingForIsReported() throws {
    let run = try ScriptRun(
      """
      local http = require 'http'
      local job = http.spawn(function() http.sleep(0.05) error('lost') end)
      http.with_timeout(0.01, job.wait, job)
      """)
    #expect(run.ending == .failed)
    #expect(run.reports.count == 1 && run.reports[0].contains("test:2: lost"), "\(run.reports)")
  }

  @Test func anErrorObjectThatAJobRaisesIsReportedAsItsLine() throws {
    let run = try ScriptRun(
      """
      local http = require 'http'
      http.spawn(function() assert(http.get('http://h/', { headers = { A = 'x\\n' } })) end)
      http.spawn(function() error(setmetatable({}, { __tostring = error })) end)
      """)
    #expect(run.ending == .failed)
    #expect(run.reports.count == 2, "\(run.reports)")
    #expect(run.reports.first?.hasPrefix("bad_url: header 'A' has a line break") == true, "\(run.reports)")
    #expect(run.reports.first?.contains("test:2:") == true, "\(run.reports)")
  }

  @Test func theEndOfASessionIsToldBeforeTheProcessEnds() throws {
    let port = FakePort()
    let run = try ScriptRun(
      """
      local http = require 'http'
      local session = http.session(nil, { did_become_invalid = function() error('told') end })
      session:get('http://h/')
      session:finish_tasks_and_invalidate()
      """, port: port)
    #expect(run.reports.count == 1 && run.reports[0].contains("told"), "\(run.reports)")
  }

  @Test func aSessionThatNobodyHoldsIsClosed() throws {
    let port = FakePort()
    let run = try ScriptRun(
      """
      local http = require 'http'
      for _ = 1, 3 do
        local done = 0
        local session = http.session(nil, { did_complete = function() collectgarbage() done = done + 1 end })
        session:data_task('http://h/'):resume()
        session = nil
        collectgarbage()
        http.sleep(0.01)
        assert(done == 1)
      end
      collectgarbage()
      collectgarbage()
      """, port: port)
    let ends = port.commands.filter { if case .invalidateSession = $0 { true } else { false } }
    #expect(run.ending == .done, "\(run.reports)")
    #expect(ends.count == 3)
  }
}
