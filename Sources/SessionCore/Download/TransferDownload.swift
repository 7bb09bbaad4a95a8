import Glibc

/// Downloads that go on where another one stopped, and that can be gone on with.
extension Transfer {
  // MARK: The beginning

  /// Begins with what resume data refers to.
  func beginResuming(_ blob: Bytes) {
    do {
      try beginResuming(ResumeData(decoding: Array(blob.buffer)))
    } catch {
      fail(TaskError(.cannotDecodeRawData, error.message))
    }
  }

  private func beginResuming(_ data: ResumeData) {
    guard let download else { return enqueue() }
    switch downloadPlace {
    case .failure(let problem): fail(problem)
    case .success(let place):
      let file = FileSink(resuming: data.path, in: place)
      guard file.open() == nil, file.length >= data.length, let digester = Digester(.sha256) else {
        // It is gone, or another task has it: from the beginning.
        return enqueue()
      }
      sink.use(file)
      isSinkOpen = true
      download.resume(data.plan)
      download.digester = digester
      download.expectedDigest = data.digest
      advance(.inspectionWanted)
    }
  }

  /// Where the file is while it belongs to nobody else.
  var downloadPlace: Result<any DownloadPlace, TaskError> {
    if let file = options.backgroundFile { return .success(file) }
    return core.downloads.directory(in: session.configuration.sharedContainer).map { $0 as any DownloadPlace }
  }

  /// Has a helper thread read what is on disk.
  func inspectFile() {
    guard let download, let file = sink.file, let digester = download.digester else { return }
    let work = file.readingWork(length: download.length, into: [digester])
    core.helpers.submit(HelperThreads.Job(task: id.rawValue, work: work))
  }

  /// It has been read: goes on with it if it is what it was, or without.
  func fileInspected(_ job: HelperThreads.Job) {
    guard let download, let file = sink.file else { return }
    let isIntact = job.result == 0 && download.digester?.value == download.expectedDigest
    if !isIntact || file.truncate(to: download.length) != nil {
      dropFile()
      download.startOver()
    } else if let digester = download.digester {
      download.checkpoints?.goOn(with: digester, length: download.length)
    }
    advance(.inspected)
  }

  /// The task goes on without the file it had.
  private func dropFile() {
    sink.file?.discard()
    isSinkOpen = false
  }

  // MARK: The request

  /// Whether another request may ask for the rest of what this one brings.
  var mayBeResumed: Bool {
    guard request.method == "GET", case .none = request.body else { return false }
    return !options.request.headers.contains { HeaderText.equalNames($0.name, "range") }
  }

  /// Ranges are about the encoded form, so that only the file's own bytes are of use where a rest may be asked for.
  /// So are most checksums.
  var wantsIdentity: Bool { download != nil || options.checksum != nil }

  /// Fields of the request that a request for a part must not have twice, or otherwise.
  func isReplacedByPlan(_ name: String) -> Bool {
    guard let download, download.plan != nil, !download.isWindow else { return false }
    return ["range", "if-range", "accept-encoding"].contains { HeaderText.equalNames($0, name) }
  }

  func appendIdentityHeaders(to list: HeaderList) {
    let plan = download?.isWindow == true ? nil : download?.plan
    let isSaid = plan == nil && request.headers.contains { HeaderText.equalNames($0.name, "accept-encoding") }
    if !isSaid { list.append("Accept-Encoding: identity") }
    guard let plan else { return }
    list.append("Range: \(plan.range)")
    list.append("If-Range: \(plan.validator.text)")
  }

  // MARK: The response

  /// What the head means for the file; nil where it is an answer to go on with.
  func downloadVerdict() -> TaskMachine.Verdict? {
    guard let download else { return nil }
    return download.judge(resumeAnswer) == .askAnew && !download.isWindow ? .again(needsBody: false) : nil
  }

  private var resumeAnswer: ResumePlan.Answer {
    let ranges = HeaderText.values(of: "content-range", in: intake.block)
    return ResumePlan.Answer(
      status: intake.status, range: ranges.count == 1 ? ContentRange(ranges[0]) : nil, length: intake.contentLength,
      validator: responseValidator, isCoded: isCoded)
  }

  private var responseValidator: Validator? {
    // The usual case is decided without making strings of dates.
    Validator.of(
      entityTags: HeaderText.values(of: "etag", in: intake.block),
      lastModified: HeaderText.values(of: "last-modified", in: intake.block),
      dates: HeaderText.values(of: "date", in: intake.block))
  }

  private var isCoded: Bool {
    intake.hasContentEncoding
      && HeaderText.values(of: "content-encoding", in: intake.block).contains {
        !HeaderText.equalNames($0, "identity") && !$0.isEmpty
      }
  }

  /// Makes the file ready for the response's body. Nil is success.
  func prepareFile(_ download: Download) -> TaskError? {
    if download.isWindow { return prepareWindow(download) }
    switch download.action {
    case .append(let offset, let count, let known, let total):
      download.beginPart(offset: offset, count: count, known: known, total: total)
      if !hasToldOffset { core.outbox.append(.resumed(id, offset: download.length, expected: total)) }
      hasToldOffset = true
      return nil
    case .complete:
      bodyMode = .ignore
      intake.markWhole()
      return nil
    case .unrelated:
      dropFile()
      download.beginWhole(validator: nil, total: nil)
      return openSink()
    case .restart, .askAnew, nil: return beginWhole(download)
    }
  }

  private func prepareWindow(_ download: Download) -> TaskError? {
    if case .append(let offset, let count, let known, let total) = download.action, download.isWantedPart {
      download.beginPart(offset: offset, count: count, known: known, total: total)
      return nil
    }
    download.beginWhole(validator: nil, total: nil)
    guard download.action == .unrelated else {
      return TaskError(.badServerResponse, "the server did not send the part of the file that was asked for", url: url)
    }
    sink.refuseFile()
    return nil
  }

  private func beginWhole(_ download: Download) -> TaskError? {
    if let problem = unaskedPart { return problem }
    let total = intake.contentLength >= 0 ? intake.contentLength : nil
    download.beginWhole(validator: isRestResumable ? responseValidator : nil, total: total)
    return sink.file?.truncate(to: 0)
  }

  /// The error of a part of a file in place of the whole, which nobody asked for: it must not be taken for the file.
  var unaskedPart: TaskError? {
    guard intake.status == 206, mayBeResumed else { return nil }
    let ranges = HeaderText.values(of: "content-range", in: intake.block)
    let range = ranges.count == 1 ? ContentRange(ranges[0]) : nil
    if let bytes = range?.bytes, bytes.lowerBound == 0, bytes.count == range?.length { return nil }
    return TaskError(.badServerResponse, "the server sent a part of the file, which was not asked for", url: url)
  }

  private var isRestResumable: Bool {
    guard intake.status == 200, mayBeResumed, !isCoded else { return false }
    return !HeaderText.values(of: "accept-ranges", in: intake.block).contains { HeaderText.equalNames($0, "none") }
  }

  /// How the end of a response's body looks from the file; nil where there is nothing special about it.
  func downloadEnding() -> TaskMachine.Ending? {
    guard let download, sink.file != nil else { return nil }
    if download.isShort {
      error = TaskError(.networkConnectionLost, "the server sent less of the file than it said", url: url)
      return isWorthKeeping ? .interrupted : .failure
    }
    guard let next = download.nextPlan else { return nil }
    download.resume(next)
    return .incomplete
  }

  // MARK: The end

  /// Whether the failure should leave behind what has come so far.
  var isWorthKeeping: Bool {
    guard let download, download.isResumable, let file = sink.file, file.isTemporary else { return false }
    switch error?.code {
    case .cancelled?: return download.keepsWhenCancelled
    case .dataLengthExceedsMaximum?, .badServerResponse?, .checksumMismatch?: return false
    default: return true
    }
  }

  /// Ends the task with `cancelled`, and resume data where that is possible.
  func cancelKeeping() {
    download?.keepsWhenCancelled = true
    fail(TaskError(.cancelled, "cancelled"))
  }

  /// Has a helper thread read what is to be kept.
  func keepFile() {
    let host = isAttached ? self.host : nil
    letGoOfHandle()
    if let host { startNext(host) }
    guard let download, let file = sink.file, let digester = Digester(.sha256) else { return advance(.kept) }
    download.digester = digester
    let work = file.readingWork(length: download.length, into: [digester])
    core.helpers.submit(HelperThreads.Job(task: id.rawValue, work: work))
  }

  /// It has been read: tells the layer above what is needed to go on.
  func fileKept(_ job: HelperThreads.Job) {
    if job.result == 0, let download, let file = sink.file, let digester = download.digester,
      let validator = download.validator, let kept = file.keptPath
    {
      let data = ResumeData(
        url: options.request.url, headers: options.request.headers, path: kept, length: download.length,
        digest: digester.value, validator: validator, total: download.total)
      let blob = data.encoded.withUnsafeBytes { Bytes(copying: $0) }
      core.outbox.append(.resumeData(id, blob, part: file.leave(), kept: kept))
    }
    advance(.kept)
  }

  // MARK: Progress

  /// What is told of the body received, and expected.
  var progressCounts: (received: Int, expected: Int) {
    guard let download, !download.isWindow else { return (received, intake.contentLength) }
    let expected = download.resumedAt > 0 ? download.total ?? -1 : intake.contentLength
    return (max(download.resumedAt, download.bodyOffset + received), expected)
  }
}
