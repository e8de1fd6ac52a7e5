/// The order of an ``IndexedHeap``, and the storage for the positions of its elements.
@usableFromInline
package protocol IndexedHeapOrder {
    associatedtype Element

    init()

    /// Whether `a` is removed before `b`.
    static func precedes(_ a: Element, _ b: Element) -> Bool

    /// Stores the position of an element in the heap; negative after its removal.
    mutating func store(_ place: Int, of element: Element)
}

/// A binary heap that stores the positions of its elements, so that an element can be inserted, or removed at any
/// position, in O(log n).
@usableFromInline
package struct IndexedHeap<Order: IndexedHeapOrder> {
    @usableFromInline package typealias Element = Order.Element

    @usableFromInline var elements: [Element] = []
    /// Stores the elements' positions.
    @usableFromInline package internal(set) var order = Order()

    @inlinable package init() {}

    @inlinable package var count: Int { elements.count }
    @inlinable package var isEmpty: Bool { elements.isEmpty }
    /// The number of elements for which there is memory.
    package var capacity: Int { elements.capacity }
    /// The next element.
    @inlinable package var first: Element? { elements.first }
    @inlinable package var indices: Range<Int> { elements.indices }

    /// The element at a position. The first element is at 0. The elements directly after the one at `index` are at
    /// `2 * index + 1` and `2 * index + 2`, if the heap has these positions. A change of an element must not change its
    /// order.
    @inlinable package subscript(index: Int) -> Element {
        get { elements[index] }
        _modify { yield &elements[index] }
    }

    @inlinable package mutating func insert(_ element: Element) {
        elements.append(element)
        siftUp(elements.count - 1, element)
    }

    /// Removes the element at a position. Returns nil if there is none.
    @inlinable package mutating func remove(at index: Int) -> Element? {
        guard index >= 0, index < elements.count, let last = elements.popLast() else { return nil }
        guard index < elements.count else {
            order.store(-1, of: last)
            // The memory of a burst is not kept.
            if elements.isEmpty, elements.capacity > 4096 { elements = [] }
            return last
        }
        let removed = elements[index]
        order.store(-1, of: removed)
        if index > 0, Order.precedes(last, elements[(index - 1) / 2]) {
            siftUp(index, last)
        } else {
            siftDown(index, last)
        }
        return removed
    }

    /// Removes and returns all elements, in no particular order.
    @inlinable package mutating func removeAll() -> [Element] {
        var removed: [Element] = []
        swap(&removed, &elements)
        for element in removed { order.store(-1, of: element) }
        return removed
    }

    @inlinable mutating func siftUp(_ start: Int, _ element: Element) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard Order.precedes(element, elements[parent]) else { break }
            place(elements[parent], at: index)
            index = parent
        }
        place(element, at: index)
    }

    @inlinable mutating func siftDown(_ start: Int, _ element: Element) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < elements.count else { break }
            if child + 1 < elements.count, Order.precedes(elements[child + 1], elements[child]) { child += 1 }
            guard Order.precedes(elements[child], element) else { break }
            place(elements[child], at: index)
            index = child
        }
        place(element, at: index)
    }

    @inlinable mutating func place(_ element: Element, at index: Int) {
        elements[index] = element
        order.store(index, of: element)
    }
}

extension IndexedHeap: Sendable where Order: Sendable, Order.Element: Sendable {}
