/// Counts the cases of a conformance suite, prints the score and holds it to a floor.
public struct Score: Sendable {
  /// The suite's name.
  public let suite: String
  /// Cases that passed.
  public private(set) var passed = 0
  /// Cases that did not, by name, with what was seen.
  public private(set) var failures: [(name: String, detail: String)] = []
  /// Cases left out, by name, with the rule that left them out.
  public private(set) var skipped: [(name: String, reason: String)] = []

  /// An empty score.
  public init(_ suite: String) { self.suite = suite }

  /// Counts a case.
  ///
  /// - Parameter detail: evaluated for failures alone.
  public mutating func record(_ name: String, _ isRight: Bool, _ detail: @autoclosure () -> String = "") {
    if isRight {
      passed += 1
    } else {
      failures.append((name, detail()))
    }
  }

  /// Leaves a case out and says why.
  public mutating func skip(_ name: String, _ reason: String) { skipped.append((name, reason)) }

  /// Cases run.
  public var total: Int { passed + failures.count }

  /// Prints the score with every failing and skipped case.
  ///
  /// - Throws: `BelowFloor` when fewer than `floor` cases passed.
  public func hold(floor: Int) throws {
    var text = "suite \(suite): \(passed)/\(total) (floor \(floor))"
    for failure in failures {
      text += "\n  failed \(failure.name)" + (failure.detail.isEmpty ? "" : ": \(failure.detail)")
    }
    for (reason, names) in Dictionary(grouping: skipped, by: \.reason).sorted(by: { $0.key < $1.key }) {
      text += "\n  skipped (\(reason)): " + names.map(\.name).joined(separator: ", ")
    }
    print(text)
    if passed < floor {
      throw BelowFloor(suite: suite, passed: passed, floor: floor, failures: failures.map(\.name))
    }
  }
}

/// A suite passed fewer cases than it must.
public struct BelowFloor: Error, CustomStringConvertible {
  let suite: String
  let passed: Int
  let floor: Int
  let failures: [String]

  /// The score and every failing case.
  public var description: String {
    "suite \(suite): only \(passed) passed, floor \(floor); failing: \(failures.joined(separator: ", "))"
  }
}
