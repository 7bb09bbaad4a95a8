import TestSupport

/// Runs rows of a suite through one process of the product.
func conformance(_ suite: String, _ rows: [JSONValue], origin: String? = nil) async throws -> [JSONValue] {
  let directory = try TemporaryDirectory()
  let file = try directory.write("rows.json", JSONValue.array(rows).text)
  let driver = Fixture.directory + "/drivers/conformance.lua"
  var run = Executable(.none, arguments: [driver, suite, file] + (origin.map { [$0] } ?? []))
  run.deadline = 120
  let result = try await run.run()
  if result.status != 0 { print("driver of \(suite): \(result.ending)\n\(result.stderr)") }
  let answers = result.output.split(separator: 10).compactMap { try? JSONValue(parsing: Array($0)) }
  return answers + Array(repeating: .null, count: max(0, rows.count - answers.count))
}

/// A server that sends the bytes of the row whose number, from 1, is the path, then closes.
func rowServer(_ replies: [[[UInt8]]]) throws -> ScriptedServer {
  try ScriptedServer { connection in
    guard let request = try connection.readRequest(), let row = Int(request.target.dropFirst()) else { return }
    for piece in replies[row - 1] { try connection.send(piece) }
  }
}
