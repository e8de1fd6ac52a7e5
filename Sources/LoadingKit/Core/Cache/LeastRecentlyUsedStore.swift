/// A dictionary with a limit for the sum of its values' costs. Beyond the limit it removes the least recently used
/// values.
///
/// Entries are in slots of an array, linked in the order of their use; every operation takes constant time.
struct LeastRecentlyUsedStore<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        let key: Key
        let value: Value
        let cost: Int
    }

    /// The neighbours of a slot. In an array of their own, because moving a slot changes nothing else.
    private struct Links: Sendable {
        var older: Int?
        var newer: Int?
    }

    private var slots: [Slot?] = []
    private var links: [Links] = []
    private var free: [Int] = []
    private var indices: [Key: Int] = [:]
    private var oldest: Int?
    private var newest: Int?

    private(set) var totalCost = 0

    /// The limit of ``totalCost``; change it with ``setCapacity(_:)``.
    private(set) var capacity: Int

    init(capacity: Int) { self.capacity = max(0, capacity) }

    var count: Int { indices.count }

    /// The value for a key, which becomes the most recently used.
    mutating func value(for key: Key) -> Value? {
        guard let index = indices[key] else { return nil }
        if index != newest {
            unlink(index)
            linkAsNewest(index)
        }
        return slots[index]?.value
    }

    /// Stores a value, unless its cost exceeds the whole capacity.
    ///
    /// - Returns: the removed values: the old value for the key, and the values for which there was no room.
    mutating func insert(_ value: Value, for key: Key, cost: Int) -> [Value] {
        let replaced = remove(key)
        let cost = max(0, cost)
        guard cost <= capacity else { return replaced.map { [$0] } ?? [] }
        let evicted = shrink(to: capacity - cost)
        let slot = Slot(key: key, value: value, cost: cost)
        let index: Int
        if let reused = free.popLast() {
            index = reused
            slots[index] = slot
        } else {
            index = slots.count
            slots.append(slot)
            links.append(Links())
        }
        indices[key] = index
        totalCost += cost  // their sum is at most `capacity`
        linkAsNewest(index)
        return evicted + (replaced.map { [$0] } ?? [])
    }

    mutating func remove(_ key: Key) -> Value? {
        guard let index = indices.removeValue(forKey: key), let slot = slots[index] else { return nil }
        unlink(index)
        slots[index] = nil
        free.append(index)
        totalCost -= slot.cost
        return slot.value
    }

    mutating func removeAll(where matches: (Value) -> Bool) -> [Value] {
        let keys = slots.compactMap { slot in slot.flatMap { matches($0.value) ? $0.key : nil } }
        return keys.compactMap { remove($0) }
    }

    mutating func setCapacity(_ newValue: Int) -> [Value] {
        capacity = max(0, newValue)
        return shrink(to: capacity)
    }

    private mutating func shrink(to cost: Int) -> [Value] {
        var evicted: [Value] = []
        while totalCost > cost, let index = oldest, let slot = slots[index], let value = remove(slot.key) {
            evicted.append(value)
        }
        return evicted
    }

    private mutating func linkAsNewest(_ index: Int) {
        links[index] = Links(older: newest, newer: nil)
        if let newest { links[newest].newer = index }
        newest = index
        oldest = oldest ?? index
    }

    private mutating func unlink(_ index: Int) {
        let (older, newer) = (links[index].older, links[index].newer)
        if let older { links[older].newer = newer } else { oldest = newer }
        if let newer { links[newer].older = older } else { newest = older }
    }
}
