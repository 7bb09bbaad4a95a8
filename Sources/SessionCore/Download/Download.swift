/// The file of a download task as a thing that several requests may bring: which version of it is on disk, how much,
/// and what the response at hand adds.
final class Download {
  /// What the next request asks for; nil: the whole file.
  private(set) var plan: ResumePlan?
  /// What the response at hand is; nil where it is the answer to a request for the whole file.
  private(set) var action: ResumePlan.Action?
  /// Which version is on disk; nil where it cannot be told, and a rest cannot be asked for.
  private(set) var validator: Validator?
  /// Its length, where it is known.
  private(set) var total: Int?
  /// How many bytes of it are on disk.
  private(set) var length = 0
  /// Where the response's body begins in the file.
  private(set) var bodyOffset = 0
  /// Where the task went on, for its handlers; 0 when it began at the beginning.
  private(set) var resumedAt = 0
  /// A cancellation keeps what is there.
  var keepsWhenCancelled = false

  // Of the response at hand, where it is a part.
  private var known = 0
  private var left: Int?

  /// What a helper thread reads the file into: at the start, what is to be verified; at the end, what is kept.
  var digester: Digester?
  /// What the digest must be.
  var expectedDigest: [UInt8] = []

  /// Where it is noted how far it has come; nil for downloads that end with the process.
  private(set) var checkpoints: Checkpoints?

  /// Nil for other destinations.
  static func make(_ task: TaskRequest) -> Download? {
    switch task.destination {
    case .memory, .consumer, .file: return nil
    case .download:
      let download = Download()
      download.checkpoints = task.backgroundFile.map { Checkpoints($0) }
      return download
    case .window(let window):
      let download = Download()
      download.resume(window.plan)
      download.digester = Digester(.sha256)
      download.isWindow = true
      return download
    }
  }

  /// Only a part of the file is wanted, and nothing else will do.
  private(set) var isWindow = false

  /// Whether what is on disk is worth being kept, so that the rest can be had later.
  var isResumable: Bool { validator != nil && length > 0 }

  /// What was there before has been verified; the next request asks for the rest.
  func resume(_ plan: ResumePlan) {
    self.plan = plan
    validator = plan.validator
    total = plan.total
    length = plan.start + plan.have
    action = nil
  }

  /// Nothing is there, or nothing that is of use.
  func startOver() {
    plan = nil
    action = nil
    validator = nil
    total = nil
    length = 0
    checkpoints?.reset()
  }

  /// What a response's head means.
  func judge(_ answer: ResumePlan.Answer) -> ResumePlan.Action? {
    let meaning = plan?.action(for: answer)
    action = meaning
    if meaning == .askAnew, !isWindow { startOver() }
    return meaning
  }

  /// The response's body goes into the file at `offset`, after `known` bytes that are there already.
  func beginPart(offset: Int, count: Int, known: Int, total: Int) {
    bodyOffset = offset
    self.known = known
    left = count
    self.total = total
    if resumedAt == 0 { resumedAt = length }
  }

  /// The response's body is the whole file. `validator`: nil where a rest of it cannot be asked for.
  func beginWhole(validator: Validator?, total: Int?) {
    plan = nil
    self.validator = validator
    self.total = total
    length = 0
    bodyOffset = 0
    known = 0
    left = nil
    resumedAt = 0
    checkpoints?.reset()
  }

  /// What is to be written of a piece of the body; nil when it is more than the response's head promised.
  func admit(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    if let left {
      guard bytes.count <= left else { return nil }
      self.left = left - bytes.count
    }
    let skipped = min(known, bytes.count)
    known -= skipped
    return UnsafeRawBufferPointer(rebasing: bytes[skipped...])
  }

  func wrote(_ bytes: UnsafeRawBufferPointer) {
    length += bytes.count
    if isWindow { digester?.update(bytes) }
    checkpoints?.take(bytes)
  }

  /// The answer is the part that is wanted.
  var isWantedPart: Bool {
    guard let plan, case .append(let offset, let count, _, _) = action else { return false }
    return offset == plan.start && offset + count == plan.end
  }

  /// Bytes of the body that were promised and have not come.
  var isShort: Bool { (left ?? 0) > 0 }

  /// The part that has come does not reach the end; what to ask for next.
  var nextPlan: ResumePlan? {
    guard case .append = action, let validator, let total, length < (plan?.end ?? total) else { return nil }
    var next = plan ?? ResumePlan(validator: validator, total: total, have: 0)
    next.total = total
    next.have = length - next.start
    return next
  }
}
