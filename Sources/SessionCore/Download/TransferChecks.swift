/// Bodies checked with digests: those that the caller asked for, and those that the server sends with them.
extension Transfer {
  /// Begins the checks of the response's body, where there are any.
  func beginChecks() {
    guard options.checksum != nil || intake.hasDigest else { return }
    sink.checks = nil
    guard !hasNoBody, (200..<300).contains(intake.status), bodyMode == .deliver else { return }
    let checks = BodyChecks()
    if intake.hasDigest { addFields(to: checks) }
    checks.checkStored(options.checksum, saidBy: options.checksumSource)
    sink.checks = checks.isEmpty ? nil : checks
  }

  private func addFields(to checks: BodyChecks) {
    let content = HeaderText.values(of: "content-digest", in: intake.block)
    checks.checkTransferred(DigestFields.structured(content), saidBy: "Content-Digest")
    for (name, expected) in DigestFields.ofRepresentation(in: intake.block) {
      // Of a part they say nothing that could be checked, unless the rest of the file is there.
      if intake.status != 206 {
        checks.checkTransferred(expected, saidBy: name)
      } else if hasToldOffset {
        checks.checkStored(expected, saidBy: name)
      }
    }
  }

  /// The file must be read for its digests: not all of it has passed in this task.
  var needsReading: Bool { sink.checks != nil && hasToldOffset && sink.file?.isTemporary == true }

  /// The error of a body that is not what it should be, as far as that is known when it has come.
  var checksProblem: TaskError? { sink.checks?.problem(includingStored: !needsReading) }

  /// Has a helper thread read the file.
  func readFile() {
    guard let file = sink.file, let checks = sink.checks else { return }
    let work = file.readingWork(length: file.length, into: checks.storedDigesters)
    core.helpers.submit(HelperThreads.Job(task: id.rawValue, work: work))
  }

  /// It has been read. Nil is success.
  func problemOfFile(_ job: HelperThreads.Job) -> TaskError? {
    guard job.result == 0 else { return FileErrors.reading(sink.file?.path ?? "", job.result) }
    return sink.checks?.problem()
  }
}
