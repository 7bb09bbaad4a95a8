import Testing

@testable import LuaBridge

@Suite struct TimerQueueTests {
  @Test func firesInOrderOfDeadline() {
    var queue = TimerQueue()
    let late = queue.add(deadline: 3)
    let early = queue.add(deadline: 1)
    let middle = queue.add(deadline: 2)
    #expect(queue.popDue(now: 0.5) == nil)
    #expect(queue.popDue(now: 2.5) == early)
    #expect(queue.popDue(now: 2.5) == middle)
    #expect(queue.popDue(now: 2.5) == nil)
    #expect(queue.nextDeadline() == 3)
    #expect(queue.popDue(now: 9) == late)
    #expect(queue.count == 0)
  }

  @Test func cancelledOnesNeitherFireNorCount() {
    var queue = TimerQueue()
    let first = queue.add(deadline: 1)
    let second = queue.add(deadline: 2)
    queue.cancel(first)
    #expect(queue.count == 1)
    #expect(queue.nextDeadline() == 2)
    #expect(queue.popDue(now: 9) == second)
  }

  @Test func manyTimersComeOutSorted() {
    var queue = TimerQueue()
    var generator = SystemRandomNumberGenerator()
    var kept: [Int: Double] = [:]
    for index in 0..<2000 {
      let deadline = Double.random(in: 0..<1000, using: &generator)
      let id = queue.add(deadline: deadline)
      if index % 10 == 0 { kept[id] = deadline } else { queue.cancel(id) }
    }
    var last = -1.0
    while let id = queue.popDue(now: 1000) {
      let deadline = kept.removeValue(forKey: id)
      #expect(deadline.map { $0 >= last } == true)
      last = deadline ?? last
    }
    #expect(kept.isEmpty)
  }
}
