/// Bounds how many test programs run at one time, so that timing tests keep their meaning.
public actor ProcessSlots {
  /// The slots all runs of the executable share.
  public static let shared = ProcessSlots(count: 4)

  private let count: Int
  private var free: Int
  private var waiting: [(weight: Int, continuation: CheckedContinuation<Void, Never>)] = []

  /// A number of free slots.
  public init(count: Int) {
    self.count = count
    free = count
  }

  /// Takes slots, first come first served.
  ///
  /// - Parameter weight: how many; more than there are means all of them.
  public func take(_ weight: Int = 1) async {
    let weight = min(weight, count)
    if waiting.isEmpty, free >= weight {
      free -= weight
      return
    }
    await withCheckedContinuation { waiting.append((weight, $0)) }
  }

  /// Gives slots back.
  public func give(_ weight: Int = 1) {
    free += min(weight, count)
    while let next = waiting.first, free >= next.weight {
      free -= next.weight
      waiting.removeFirst()
      next.continuation.resume()
    }
  }
}
