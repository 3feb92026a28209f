/// A binary heap: the smallest element first.
struct Heap<Element> {
  private var elements: [Element] = []
  private let isBefore: (Element, Element) -> Bool

  init(_ isBefore: @escaping (Element, Element) -> Bool) { self.isBefore = isBefore }

  mutating func push(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard isBefore(elements[child], elements[parent]) else { return }
      elements.swapAt(child, parent)
      child = parent
    }
  }

  mutating func pop() -> Element? {
    guard let first = elements.first else { return nil }
    let last = elements.removeLast()
    guard !elements.isEmpty else { return first }
    elements[0] = last
    var parent = 0
    while true {
      var child = parent * 2 + 1
      guard child < elements.count else { return first }
      if child + 1 < elements.count, isBefore(elements[child + 1], elements[child]) { child += 1 }
      guard isBefore(elements[child], elements[parent]) else { return first }
      elements.swapAt(child, parent)
      parent = child
    }
  }
}
