/// A limit in bytes a second that several transfers may share: who wants to pass is told when, in the order of asking,
/// so that no more goes through than the rate allows. What a busy machine is late with is caught up with, within bounds.
final class RateLimiter {
  private let rate: Double
  /// When all that was granted has passed.
  private var busyUntil = -Double.infinity
  /// Seconds that may be caught up with.
  private static let lateness = 0.3

  init?(_ rate: Double?) {
    guard let rate, rate > 0 else { return nil }
    self.rate = rate
  }

  /// When so many bytes may pass.
  func reserve(_ count: Int, now: Double) -> Double {
    let isIdle = busyUntil < now - Self.lateness
    busyUntil = (isIdle ? now : busyUntil) + Double(count) / rate
    return busyUntil
  }

  /// What may pass in a tenth of a second: steps that are neither jerky nor too small to be worth it.
  var step: Int { max(1024, Int(min(rate / 10, 1e9))) }
}

/// One direction of one transfer under its limits.
struct Throttle {
  private let limiters: [RateLimiter]
  /// Bytes that were granted and have not passed.
  private var granted = 0
  /// When they may.
  private(set) var time = 0.0
  /// The transfer waits for that time.
  var isWaiting = false

  /// Nil where there is no limit.
  init?(_ limiters: [RateLimiter?]) {
    self.limiters = limiters.compactMap { $0 }
    if self.limiters.isEmpty { return nil }
  }

  /// The most that should be asked for at once.
  var step: Int { limiters.map(\.step).min() ?? Int.max }

  /// Whether so many bytes may pass now; they then count as passed. Otherwise `isWaiting` until `time`.
  mutating func admits(_ count: Int, now: Double) -> Bool {
    if count > granted {
      for limiter in limiters { time = max(time, limiter.reserve(count - granted, now: now)) }
      granted = count
    }
    isWaiting = now < time
    if !isWaiting { granted -= count }
    return !isWaiting
  }
}
