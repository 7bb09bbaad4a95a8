/// Something with a deadline. It stores its own place in the heap, so that it can be moved and taken out cheaply.
protocol TimerEntry: AnyObject {
  var timerIndex: Int { get set }
}

/// Deadlines in a binary heap that knows where each entry is: setting, moving and removing one costs O(log n), the
/// next deadline nothing. An entry is there at most once.
struct TimerHeap<Entry: TimerEntry> {
  private var heap: [(deadline: Double, entry: Entry)] = []

  var nextDeadline: Double? { heap.first?.deadline }
  var count: Int { heap.count }

  /// Sets or moves the entry's deadline.
  mutating func set(_ entry: Entry, deadline: Double) {
    let index = entry.timerIndex
    if index < 0 {
      entry.timerIndex = heap.count
      heap.append((deadline, entry))
      siftUp(heap.count - 1)
    } else if deadline < heap[index].deadline {
      heap[index].deadline = deadline
      siftUp(index)
    } else {
      heap[index].deadline = deadline
      siftDown(index)
    }
  }

  mutating func remove(_ entry: Entry) {
    let index = entry.timerIndex
    guard index >= 0 else { return }
    entry.timerIndex = -1
    let last = heap.removeLast()
    guard index < heap.count else { return }
    heap[index] = last
    last.entry.timerIndex = index
    siftUp(index)
    siftDown(last.entry.timerIndex)
  }

  /// Takes out one entry whose time has come, the earliest first.
  mutating func popExpired(now: Double) -> Entry? {
    guard let first = heap.first, first.deadline <= now else { return nil }
    remove(first.entry)
    return first.entry
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      if heap[parent].deadline <= heap[index].deadline { return }
      exchange(parent, index)
      index = parent
    }
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    while true {
      var least = index
      for child in (2 * index + 1)..<(2 * index + 3) where child < heap.count {
        if heap[child].deadline < heap[least].deadline { least = child }
      }
      if least == index { return }
      exchange(least, index)
      index = least
    }
  }

  private mutating func exchange(_ a: Int, _ b: Int) {
    heap.swapAt(a, b)
    heap[a].entry.timerIndex = a
    heap[b].entry.timerIndex = b
  }
}
