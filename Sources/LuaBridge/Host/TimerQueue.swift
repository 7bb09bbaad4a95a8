/// Timers by deadline: a binary heap. A cancelled one stays in the heap, marked, until it comes to the top.
struct TimerQueue {
  private struct Entry {
    var deadline: Double
    var id: Int
  }

  private var heap: [Entry] = []
  private var live: Set<Int> = []
  private var lastID = 0

  /// How many are neither fired nor cancelled.
  var count: Int { live.count }

  mutating func add(deadline: Double) -> Int {
    lastID += 1
    live.insert(lastID)
    heap.append(Entry(deadline: deadline, id: lastID))
    siftUp(heap.count - 1)
    return lastID
  }

  mutating func cancel(_ id: Int) {
    live.remove(id)
    if heap.count > 64, heap.count > live.count * 4 { compact() }
  }

  /// When the next one fires.
  mutating func nextDeadline() -> Double? {
    while let first = heap.first, !live.contains(first.id) { removeFirst() }
    return heap.first?.deadline
  }

  /// The next one whose deadline has come, taken out.
  mutating func popDue(now: Double) -> Int? {
    guard let deadline = nextDeadline(), deadline <= now, let id = heap.first?.id else { return nil }
    removeFirst()
    live.remove(id)
    return id
  }

  private mutating func compact() {
    let kept = heap.filter { live.contains($0.id) }
    heap.removeAll(keepingCapacity: true)
    for entry in kept {
      heap.append(entry)
      siftUp(heap.count - 1)
    }
  }

  private mutating func removeFirst() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    siftDown(0)
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard heap[index].deadline < heap[parent].deadline else { return }
      heap.swapAt(index, parent)
      index = parent
    }
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    while true {
      var smallest = index
      for child in [2 * index + 1, 2 * index + 2] where child < heap.count {
        if heap[child].deadline < heap[smallest].deadline { smallest = child }
      }
      guard smallest != index else { return }
      heap.swapAt(index, smallest)
      index = smallest
    }
  }
}
