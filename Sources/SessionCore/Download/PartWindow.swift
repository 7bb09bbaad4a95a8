/// A part of a file, fetched by one request of several, into its place in a `PartFile` that the caller holds.
public struct PartWindow: Sendable {
  /// The file as it is now: `PartFile.temporaryPath`.
  public var path: String
  public var offset: Int
  public var count: Int
  /// The whole file's length.
  public var total: Int
  /// Which version of the file is wanted.
  let validator: Validator

  /// `validator`: what `validator(ofHeaderBlock:)` gave. Nil where it is none, or the numbers make no sense.
  public init?(path: String, offset: Int, count: Int, total: Int, validator: String) {
    guard offset >= 0, count > 0, offset <= total - count, let validator = Validator(text: validator) else {
      return nil
    }
    self.path = path
    self.offset = offset
    self.count = count
    self.total = total
    self.validator = validator
  }

  var plan: ResumePlan {
    ResumePlan(validator: validator, total: total, start: offset, end: offset + count, have: 0)
  }

  /// The strong validator of a response's fields as a text, or nil where it has none.
  public static func validator(ofHeaderBlock block: Bytes) -> String? {
    Validator.of(
      entityTags: HeaderText.values(of: "etag", in: block),
      lastModified: HeaderText.values(of: "last-modified", in: block), dates: HeaderText.values(of: "date", in: block)
    )?.kindAndText
  }
}
