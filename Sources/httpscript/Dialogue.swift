import LuaBridge

struct Dialogue {
  let runtime: Runtime
  init(_ runtime: Runtime) { self.runtime = runtime }
  func run() -> Int32 { 0 }
}
