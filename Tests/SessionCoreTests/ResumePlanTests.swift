import Testing

@testable import SessionCore

@Suite("What a server's answer to a request for the rest means")
struct ResumePlanTests {
  private typealias Answer = ResumePlan.Answer
  private typealias Action = ResumePlan.Action

  private static let tag = Validator.entityTag("\"v1\"")
  /// Ten of twenty-six bytes are there.
  private static let plan = ResumePlan(validator: tag, total: 26, have: 10)

  private static func part(
    _ range: String?, length: Int = -1, validator: Validator? = tag, isCoded: Bool = false, status: Int = 206
  ) -> Answer {
    Answer(
      status: status, range: range.flatMap(ContentRange.init), length: length, validator: validator, isCoded: isCoded)
  }

  private static let answers: [(String, Answer, Action)] = [
    ("the rest", part("bytes 10-25/26", length: 16), .append(offset: 10, count: 16, known: 0, total: 26)),
    ("the rest, chunked", part("bytes 10-25/26"), .append(offset: 10, count: 16, known: 0, total: 26)),
    ("the rest, length unsaid", part("bytes 10-25/*"), .append(offset: 10, count: 16, known: 0, total: 26)),
    ("from earlier on", part("bytes 8-25/26", length: 18), .append(offset: 8, count: 18, known: 2, total: 26)),
    ("everything", part("bytes 0-25/26", length: 26), .append(offset: 0, count: 26, known: 10, total: 26)),
    ("less than the rest", part("bytes 10-14/26", length: 5), .append(offset: 10, count: 5, known: 0, total: 26)),
    ("a gap", part("bytes 11-25/26"), .askAnew),
    ("nothing new", part("bytes 0-9/26"), .askAnew),
    ("no range", part(nil, length: 16), .askAnew),
    ("a malformed range", part("bytes 10-25", length: 16), .askAnew),
    ("another unit", part("items 10-25/26"), .askAnew),
    ("an unsatisfied range", part("bytes */26"), .askAnew),
    ("a file of another length", part("bytes 10-29/30"), .askAnew),
    ("a file cut shorter", part("bytes 10-19/20"), .askAnew),
    ("another length than the range", part("bytes 10-25/26", length: 15), .askAnew),
    ("another version", part("bytes 10-25/26", validator: .entityTag("\"v2\"")), .askAnew),
    ("no validator", part("bytes 10-25/26", validator: nil), .askAnew),
    ("a validator of the other kind", part("bytes 10-25/26", validator: .lastModified("\"v1\"")), .askAnew),
    ("gzip", part("bytes 10-25/26", isCoded: true), .askAnew),
    ("the whole file", part(nil, validator: .entityTag("\"v2\""), status: 200), .restart),
    ("the whole file, changed on its way", part(nil, status: 203), .restart),
    ("not modified", part(nil, status: 304), .askAnew),
    ("precondition failed", part(nil, status: 412), .askAnew),
    ("416, whole already, of another length than before", part("bytes */10", status: 416), .askAnew),
    ("416, whole already, unproven", part("bytes */10", validator: nil, status: 416), .askAnew),
    ("416, another version", part("bytes */10", validator: .entityTag("\"v2\""), status: 416), .askAnew),
    ("416, shorter", part("bytes */6", status: 416), .askAnew),
    ("416, longer", part("bytes */26", status: 416), .askAnew),
    ("416, length unsaid", part(nil, status: 416), .askAnew),
    ("416 with a range", part("bytes 0-9/10", status: 416), .askAnew),
    ("an error page", part(nil, status: 404), .unrelated),
    ("an error page with a range", part("bytes 10-25/26", status: 500), .unrelated),
    ("no content", part(nil, status: 204), .unrelated),
    ("a refused redirect", part(nil, status: 302), .unrelated),
  ]

  @Test("Each answer has its meaning", arguments: answers.indices)
  func answer(index: Int) {
    let (name, answer, action) = Self.answers[index]
    #expect(Self.plan.action(for: answer) == action, "\(name)")
  }

  @Test("Every range a server could state is added without a gap, or not at all")
  func everyRange() {
    for have in 1...12 {
      for total in [nil, 12] as [Int?] {
        for first in 0...12 {
          for last in first...12 {
            for length in [nil, 11, 12, 13] as [Int?] {
              check(ResumePlan(validator: Self.tag, total: total, have: have), first, last, length)
            }
          }
        }
      }
    }
  }

  private func check(_ plan: ResumePlan, _ first: Int, _ last: Int, _ length: Int?) {
    let answer = Self.part("bytes \(first)-\(last)/\(length.map(String.init) ?? "*")")
    switch plan.action(for: answer) {
    case .append(let offset, let count, let known, let total):
      #expect(offset == first && count == last - first + 1)
      #expect(offset <= plan.have && offset + known == min(plan.have, last + 1))
      #expect(last >= plan.offset && last < total)
      #expect(total == length ?? plan.total && plan.total ?? total == total)
    case .askAnew: break
    case .restart, .complete, .unrelated: Issue.record("not what a 206 can mean")
    }
  }

  @Test("416 says that all is there only where that is proven")
  func unsatisfied() {
    let known = ResumePlan(validator: Self.tag, total: 10, have: 10)
    #expect(known.action(for: Self.part("bytes */10", validator: nil, status: 416)) == .complete)
    #expect(known.action(for: Self.part("bytes */10", validator: .entityTag("\"v2\""), status: 416)) == .askAnew)
    let unknown = ResumePlan(validator: Self.tag, total: nil, have: 10)
    #expect(unknown.action(for: Self.part("bytes */10", validator: nil, status: 416)) == .askAnew)
    #expect(unknown.action(for: Self.part("bytes */10", status: 416)) == .askAnew)
    let window = ResumePlan(validator: Self.tag, total: 10, start: 0, end: 10, have: 10)
    #expect(window.action(for: Self.part("bytes */10", status: 416)) == .askAnew)
  }

  @Test("A whole file asks for its last byte again; a window for what is its own")
  func ranges() {
    #expect(Self.plan.range == "bytes=10-")
    #expect(ResumePlan(validator: Self.tag, total: 26, have: 26).range == "bytes=25-")
    #expect(ResumePlan(validator: Self.tag, total: nil, have: 26).range == "bytes=26-")
    let window = ResumePlan(validator: Self.tag, total: 26, start: 5, end: 20, have: 3)
    #expect(window.range == "bytes=8-19")
    #expect(
      window.action(for: Self.part("bytes 8-19/26")) == .append(offset: 8, count: 12, known: 0, total: 26))
    #expect(window.action(for: Self.part("bytes 4-19/26")) == .askAnew)
    #expect(window.action(for: Self.part("bytes 8-20/26")) == .askAnew)
    #expect(window.action(for: Self.part(nil, status: 200)) == .restart)
  }

  @Test("Only strong validators count")
  func validators() {
    let old = "Mon, 01 Jan 2024 00:00:00 GMT"
    let minuteLater = "Mon, 01 Jan 2024 00:01:00 GMT"
    let justLater = "Mon, 01 Jan 2024 00:00:59 GMT"
    func of(_ tags: [String], _ modified: [String] = [], _ dates: [String] = []) -> Validator? {
      Validator.of(entityTags: tags, lastModified: modified, dates: dates)
    }
    #expect(of(["\"a\""]) == .entityTag("\"a\""))
    #expect(of(["\"\""]) == .entityTag("\"\""))
    #expect(of(["W/\"a\""]) == nil)
    #expect(of(["a"]) == nil)
    #expect(of(["\"a\"", "\"b\""]) == nil)
    #expect(of(["\"a\", \"b\""]) == nil)
    #expect(of(["\"a\rb\""]) == nil)
    #expect(of([], [old], [minuteLater]) == .lastModified(old))
    #expect(of([], [old], [justLater]) == nil)
    #expect(of([], [old]) == nil)
    #expect(of(["W/\"a\""], [old], [minuteLater]) == nil)
    #expect(of([], ["yesterday"], [minuteLater]) == nil)
  }
}

@Suite("Resume data")
struct ResumeDataTests {
  private static let data = ResumeData(
    url: "http://user:secret@host/path?q=1",
    headers: [
      HeaderField("Accept", "text/*"), HeaderField("Authorization", "Bearer t"), HeaderField("Cookie", "a=b"),
      HeaderField("X-Api-Key", "k"), HeaderField("X-Name", bytes: [0xE9]), HeaderField("Proxy-Authorization", "x"),
    ], path: "/tmp/x.resume", length: 10, digest: Array(repeating: 7, count: 32), validator: .entityTag("\"v1\""),
    total: 26)

  @Test("It comes back as it was, without secrets")
  func roundTrip() throws {
    let read = try ResumeData(decoding: Self.data.encoded)
    #expect(read == Self.data)
    #expect(read.url == "http://host/path?q=1")
    #expect(read.headers.map(\.name) == ["Accept", "X-Name"])
    #expect(read.plan == ResumePlan(validator: .entityTag("\"v1\""), total: 26, have: 10))
    let text = String(decoding: Self.data.encoded, as: UTF8.self)
    for secret in ["secret", "Bearer", "a=b"] { #expect(!text.contains(secret)) }
    var other = Self.data
    other.total = nil
    other.validator = .lastModified("Mon, 01 Jan 2024 00:00:00 GMT")
    #expect(try ResumeData(decoding: other.encoded) == other)
  }

  @Test("Every damaged byte and every cut is noticed")
  func damage() {
    let good = Self.data.encoded
    for index in good.indices {
      var bad = good
      bad[index] ^= 0x10
      #expect(throws: ResumeData.Problem.damaged) { try ResumeData(decoding: bad) }
      #expect(throws: ResumeData.Problem.damaged) { try ResumeData(decoding: Array(good[..<index])) }
    }
    #expect(throws: ResumeData.Problem.damaged) { try ResumeData(decoding: good + [0]) }
  }

  @Test("A later version is named")
  func version() {
    var later = Array(Self.data.encoded.dropLast(32))
    later["httpscript resume ".utf8.count] = 2
    later += Hash.sha256.digest(of: later)
    #expect(throws: ResumeData.Problem.unknownVersion) { try ResumeData(decoding: later) }
  }

  @Test("Digests are what they should be")
  func digests() {
    let abc = Array("abc".utf8)
    func hex(_ algorithm: Hash) -> String {
      Hexadecimal.encode(algorithm.digest(of: abc))
    }
    #expect(hex(.md5) == "900150983cd24fb0d6963f7d28e17f72")
    #expect(hex(.sha1) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(hex(.sha256) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(Hash.sha512.digest(of: abc).count == 64)
    let running = Digester(.sha256)
    abc.withUnsafeBytes { running?.update(UnsafeRawBufferPointer(rebasing: $0[..<1])) }
    #expect(running?.value == Hash.sha256.digest(of: [0x61]))
    abc.withUnsafeBytes { running?.update(UnsafeRawBufferPointer(rebasing: $0[1...])) }
    #expect(running?.value == Hash.sha256.digest(of: abc))
    running?.reset()
    #expect(running?.value == Hash.sha256.digest(of: []))
  }
}
