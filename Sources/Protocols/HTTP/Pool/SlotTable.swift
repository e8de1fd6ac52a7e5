/// Identifies an element of a ``SlotTable``: a slot, and the generation of its use. The identifier of a removed element
/// finds no element, even if its slot is in use again.
struct SlotID: Hashable, Sendable {
    /// The index is small, so that a table of other values for the elements can be an array.
    let index: Int
    let generation: UInt32
}

/// Elements found, inserted and removed in constant time by small identifiers.
struct SlotTable<Element> {
    private struct Slot {
        var generation: UInt32 = 0
        var element: Element?
    }

    private var slots: [Slot] = []
    private var free: [Int] = []

    var count: Int { slots.count - free.count }
    var isEmpty: Bool { slots.count == free.count }

    var ids: [SlotID] {
        slots.indices.compactMap { index in
            slots[index].element == nil ? nil : SlotID(index: index, generation: slots[index].generation)
        }
    }

    /// The element; nil after it was removed. The setter only changes an element that is in the table.
    @inline(__always)
    subscript(id: SlotID) -> Element? {
        get { has(id) ? slots[id.index].element : nil }
        _modify {
            var none: Element?
            if has(id) { yield &slots[id.index].element } else { yield &none }
        }
    }

    mutating func insert(_ element: Element) -> SlotID {
        if let index = free.popLast() {
            slots[index].element = element
            return SlotID(index: index, generation: slots[index].generation)
        }
        slots.append(Slot(element: element))
        return SlotID(index: slots.count - 1, generation: 0)
    }

    @discardableResult
    mutating func remove(_ id: SlotID) -> Element? {
        guard has(id) else { return nil }
        let element = slots[id.index].element.take()
        slots[id.index].generation &+= 1
        free.append(id.index)
        return element
    }

    private func has(_ id: SlotID) -> Bool {
        id.index < slots.count && slots[id.index].generation == id.generation && slots[id.index].element != nil
    }
}
