import Testing

@testable import LuaBridge
@testable import SessionCore

/// No Lua error and no yield may cost a Swift object or a reference.
@Suite struct BoundaryTests {
  /// Counts its instances.
  final class Probe {
    nonisolated(unsafe) static var live = 0
    init() { Probe.live += 1 }
    deinit { Probe.live -= 1 }
  }

  private static let probeType = HostType<Probe>(.document)

  private static func module() -> NativeModule {
    NativeModule(
      "probe",
      functions: [
        .init("make") { call in
          call.results.append(Probe(), probeType)
          return .returned
        },
        .init("fail") { call in
          let probe = Probe()
          let texts = (0..<8).map { "text \($0) of \(Probe.live)" }
          return withExtendedLifetime(probe) { call.raise(texts.joined(separator: ", ")) }
        },
        .init("park") { _ in
          let probe = Probe()
          return withExtendedLifetime(probe) { .parked }
        },
      ],
      types: [
        .init(
          "Probe", probeType,
          methods: [
            .init("touch") { call in
              guard call.object(1, probeType) != nil else { return call.wrongType(1, "Probe") }
              call.results.append(true)
              return .returned
            }
          ])
      ])
  }

  @Test func raisesYieldsAndAbandonedCoroutinesLeaveNothing() throws {
    let interpreter = try Interpreter(modules: ["probe": Self.module])
    let scheduler = Scheduler(interpreter: interpreter, port: FakePort())
    var reports: [String] = []
    scheduler.report = { reports.append($0) }
    let text = """
      local probe = require 'probe'
      for i = 1, 5000 do
        local ok, e = pcall(function() probe.fail() end)
        assert(not ok and e:find('^test:3: text 0'), e)
        assert(probe.make():touch())
        assert(not pcall(probe.Probe.touch, io.stdout))
        coroutine.wrap(function() local held <const> = probe.make() coroutine.yield(held) end)()
      end
      """
    #expect(try scheduler.run(Bytes(text), name: "=test") == .done, "\(reports)")
    interpreter.collect()
    interpreter.collect()
    #expect(interpreter.liveObjects == 0)
    #expect(interpreter.references == 0)
    #expect(Probe.live == 0)
  }

  @Test func fibersThatNeverWakeAreReleasedAtTheEnd() throws {
    let text = """
      local http = require 'http'
      for i = 1, 1000 do http.spawn(function() local e <close> = setmetatable({}, { __close = function() end })
        require('httpscript.fiber').park() end) end
      """
    let run = try ScriptRun(text)
    #expect(run.references == 0)
    #expect(run.liveObjects == 0)
  }

  @Test func hostFunctionsCannotBeFooledByForeignUserdata() throws {
    let run = try ScriptRun("local u = require('httpscript.core') assert(not pcall(u.wake, io.stdout))")
    #expect(run.ending == .done, "\(run.reports)")
  }
}
