/// What a request for the rest of a file goes by, and what its answer means. No I/O: the rules of RFC 9110 §13 to §15
/// on ranges, with the one of our own that bytes of which there is any doubt are fetched again.
struct ResumePlan: Equatable, Sendable {
  /// Says which version of the file the bytes on disk are of.
  var validator: Validator
  /// The length of that version, where it is known.
  var total: Int?
  /// The first byte that is wanted, and what ends the wanted part (nil: the file's end).
  var start = 0
  var end: Int?
  /// The bytes from `start` on that are on disk, and have been verified.
  var have: Int

  /// What stands in a response's head about it.
  struct Answer: Equatable, Sendable {
    var status: Int
    /// The one Content-Range field; nil where there is none, or it is malformed.
    var range: ContentRange?
    /// Content-Length, or -1.
    var length = -1
    var validator: Validator?
    /// The body has a content coding: ranges and lengths are not about the file's bytes.
    var isCoded = false
  }

  enum Action: Equatable, Sendable {
    /// The body is the file's bytes from `offset` on, so many; `total` is the file's length. The first `known` of them
    /// are on disk already.
    case append(offset: Int, count: Int, known: Int, total: Int)
    /// The body is the whole file, perhaps of another version: what is on disk is worth nothing.
    case restart
    /// The answer is of no use; the whole file must be asked for.
    case askAnew
    /// All bytes are on disk.
    case complete
    /// The answer is not about the file's bytes (an error page): it must not get among them.
    case unrelated
  }

  /// The first byte that the request asks for. When all are there, the last one is asked for again: an answer with it
  /// proves that they are still the server's, where a range behind the end could only be refused.
  var offset: Int {
    let end = end ?? total
    return have > 0 && start + have == end ? start + have - 1 : start + have
  }

  /// The Range field.
  var range: String {
    guard let end else { return "bytes=\(offset)-" }
    return "bytes=\(offset)-\(end - 1)"
  }

  func action(for answer: Answer) -> Action {
    switch answer.status {
    case 206: return partial(answer)
    case 200, 203: return .restart
    case 304, 412: return .askAnew
    case 416: return unsatisfiable(answer)
    default: return .unrelated
    }
  }

  private func partial(_ answer: Answer) -> Action {
    guard !answer.isCoded, answer.validator == validator, let bytes = answer.range?.bytes,
      let total = answer.range?.length ?? total, self.total ?? total == total, bytes.upperBound < total
    else { return .askAnew }
    // From another place than asked for: of use when it leaves no gap, and brings something.
    guard bytes.lowerBound >= start, bytes.lowerBound <= offset, bytes.upperBound >= offset,
      bytes.upperBound < end ?? total, answer.length < 0 || answer.length == bytes.count
    else { return .askAnew }
    let known = min(start + have - bytes.lowerBound, bytes.count)
    return .append(offset: bytes.lowerBound, count: bytes.count, known: known, total: total)
  }

  private func unsatisfiable(_ answer: Answer) -> Action {
    guard start == 0, end == nil, have > 0, let range = answer.range, range.bytes == nil, range.length == have else {
      return .askAnew
    }
    // As long as what is there. A length that was not known before proves nothing: servers have been seen that repeat
    // the request's own.
    return total == have && (answer.validator ?? validator) == validator ? .complete : .askAnew
  }
}
