import Testing

@testable import SessionCore

@Suite("Checksums and digest fields")
struct DigestTests {
  private static let digits = Array("0123456789".utf8)
  private static let sha256 = "hNiYd/DUBB77a/kaFvAkjy/Vc+avBcGflr7bn4gveII="
  private static let md5 = "eB5eJF1ptWaXm4bijSPyxw=="

  @Test("A checksum is an algorithm and its digits")
  func expected() {
    let text = "sha256:84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
    #expect(ExpectedDigest(text) == ExpectedDigest(.sha256, Hash.sha256.digest(of: Self.digits)))
    #expect(ExpectedDigest(text.uppercased()) == ExpectedDigest(text))
    for bad in ["", "sha256", "sha256:", text + "0", String(text.dropLast()), "sha3:00", "md5:zz", text + ":"] {
      #expect(ExpectedDigest(bad) == nil)
    }
  }

  private static let structured: [([String], Hash?)] = [
    (["sha-256=:\(sha256):"], .sha256), (["md5=:\(md5):, sha-256=:\(sha256):"], .sha256),
    (["unixsum=:AAAA:", " sha-256 = :\(sha256): "], .sha256), (["sha-256=\(sha256)"], nil), (["sha-256=:AAAA:"], nil),
    (["sha-257=:\(sha256):"], nil), ([""], nil), (["sha-256=:"], nil), (["=:x:"], nil), ([], nil),
    (["sha-256=:!!!:"], nil), (["sha-256=:\(sha256):;x=1"], .sha256), (["sha-256=:\(sha256):; a;b=:AA==:"], .sha256),
    (["md5=:\(md5):;x=\"a,\\\"b\", sha-256=:\(sha256):"], .sha256), (["sha-256=:\(sha256):x"], nil),
  ]

  @Test("RFC 9530 fields: the strongest that is understood", arguments: structured.indices)
  func structuredFields(index: Int) {
    let (values, algorithm) = Self.structured[index]
    let found = DigestFields.structured(values)
    #expect(found?.algorithm == algorithm)
    if let found { #expect(found.value == found.algorithm.digest(of: Self.digits)) }
  }

  @Test("The older Digest field")
  func old() {
    #expect(DigestFields.old(["SHA-256=\(Self.sha256),MD5=\(Self.md5)"])?.algorithm == .sha256)
    #expect(DigestFields.old(["md5=\(Self.md5)"])?.value == Hash.md5.digest(of: Self.digits))
    #expect(DigestFields.old(["UNIXcksum=3"]) == nil)
  }

  @Test("What is expected of the transferred bytes and of the stored ones is checked apart")
  func checks() {
    let checks = BodyChecks()
    checks.checkTransferred(ExpectedDigest(.md5, Hash.md5.digest(of: [1])), saidBy: "Content-Digest")
    checks.checkStored(ExpectedDigest(.md5, Hash.md5.digest(of: [2])), saidBy: "the option checksum")
    checks.checkStored(nil, saidBy: "nobody")
    [1].withUnsafeBytes { checks.take(transferred: UnsafeRawBufferPointer(rebasing: $0[..<1])) }
    #expect(checks.problem(includingStored: false) == nil)
    #expect(checks.problem()?.code == .checksumMismatch)
    #expect(checks.problem()?.message.contains("the option checksum") == true)
    let two: [UInt8] = [2]
    two.withUnsafeBytes { checks.take(stored: $0) }
    #expect(checks.problem() == nil)
    #expect(!checks.isEmpty && BodyChecks().isEmpty)
  }
}

@Suite("Rate limits")
struct RateLimiterTests {
  /// Passes pieces through at the times it is told, and gives the time of the last one.
  private static func run(_ throttle: inout Throttle, pieces: Int, of size: Int, from start: Double, late: Double = 0)
    -> Double
  {
    var now = start
    for _ in 0..<pieces {
      while !throttle.admits(size, now: now) { now = throttle.time + late }
    }
    return now
  }

  @Test("So many bytes take the time that the rate says")
  func exact() {
    var throttle = Throttle([RateLimiter(1000)])!
    #expect(abs(Self.run(&throttle, pieces: 100, of: 100, from: 5) - 15) < 0.001)
  }

  @Test("Lateness is caught up with; idleness is not saved up")
  func late() {
    var throttle = Throttle([RateLimiter(1000)])!
    #expect(abs(Self.run(&throttle, pieces: 100, of: 100, from: 0, late: 0.05) - 10) < 0.2)
    #expect(Self.run(&throttle, pieces: 10, of: 100, from: 100) > 100.6)
  }

  @Test("Two transfers share a limit; each has its own as well")
  func shared() {
    let shared = RateLimiter(1000)
    var one = Throttle([nil, shared])!
    var other = Throttle([RateLimiter(100), shared])!
    var now = 0.0
    var passed = (one: 0, other: 0)
    while now < 10 {
      if one.admits(50, now: now) { passed.one += 50 }
      if other.admits(50, now: now) { passed.other += 50 }
      now += 0.005
    }
    #expect(abs(Double(passed.one + passed.other) - 10_000) < 300, "\(passed)")
    #expect(abs(Double(passed.other) - 1000) < 100, "\(passed)")
  }

  @Test("No limit is none")
  func none() {
    #expect(RateLimiter(nil) == nil && RateLimiter(0) == nil)
    #expect(Throttle([nil, nil]) == nil)
  }
}
