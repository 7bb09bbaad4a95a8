import Foundation

/// Runs commands of the shell to their end, quietly.
///
/// - Throws: `LaunchedProgram.NotReady` with `purpose` when one of them fails.
func shell(
  _ commands: String, in directory: TemporaryDirectory, environment: [String: String] = [:], purpose: String
) throws {
  let shell = Process()
  shell.executableURL = URL(fileURLWithPath: "/bin/sh")
  shell.arguments = ["-ec", commands]
  shell.currentDirectoryURL = URL(fileURLWithPath: directory.path)
  shell.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
  shell.standardInput = FileHandle.nullDevice
  let errors = Pipe()
  shell.standardError = errors
  shell.standardOutput = FileHandle.nullDevice
  try shell.run()
  let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  shell.waitUntilExit()
  guard shell.terminationStatus == 0 else { throw LaunchedProgram.NotReady(description: "\(purpose): \(text)") }
}
