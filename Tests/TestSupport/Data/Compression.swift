/// Bytes as the gzip command packs them.
public func gzip(_ bytes: [UInt8]) async throws -> [UInt8] {
  var launch = Launch(program: "/bin/gzip", arguments: ["-nc"], environment: [:], directory: "/")
  launch.input = bytes
  return await (try RunningProcess(launch, deadline: 20)).finish().output
}
