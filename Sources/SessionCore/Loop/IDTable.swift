/// Objects by number, where every task goes in once and out once. Open addressing with linear probing: a look-up costs a
/// multiplication and mostly one comparison, and none of Swift's hashing.
struct IDTable<Element: AnyObject> {
  private struct Slot {
    var key = 0
    var element: Element?
  }

  private var slots: [Slot]
  private(set) var count = 0

  init() { slots = Array(repeating: Slot(), count: 16) }

  /// What is stored, in no order.
  var values: [Element] { slots.compactMap(\.element) }

  subscript(key: Int) -> Element? {
    get { slots[place(key)].element }
    set {
      if let newValue { insert(newValue, key) } else { remove(key) }
    }
  }

  mutating func removeAll() { self = IDTable() }

  private func home(_ key: Int) -> Int {
    let mixed = UInt(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15
    return Int(bitPattern: mixed >> 32) & (slots.count - 1)
  }

  /// Where the key is, or would be put.
  private func place(_ key: Int) -> Int {
    var index = home(key)
    while slots[index].element != nil, slots[index].key != key { index = (index + 1) & (slots.count - 1) }
    return index
  }

  private mutating func insert(_ element: Element, _ key: Int) {
    if 2 * (count + 1) > slots.count { grow() }
    let index = place(key)
    if slots[index].element == nil { count += 1 }
    slots[index] = Slot(key: key, element: element)
  }

  /// Those behind it move up, so that a search never ends too early.
  private mutating func remove(_ key: Int) {
    var hole = place(key)
    guard slots[hole].element != nil else { return }
    slots[hole].element = nil
    count -= 1
    var index = (hole + 1) & (slots.count - 1)
    while slots[index].element != nil {
      let distance = (index - home(slots[index].key)) & (slots.count - 1)
      if distance >= (index - hole) & (slots.count - 1) {
        slots.swapAt(hole, index)
        hole = index
      }
      index = (index + 1) & (slots.count - 1)
    }
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(), count: old.count * 2)
    for slot in old where slot.element != nil { slots[place(slot.key)] = slot }
  }
}
