/// Values by stream identifier: open addressing over two arrays, without hashing, as identifiers are dense.
package struct StreamTable<Value> {
    /// 0 where there is none.
    private var identifiers: [UInt32]
    private var values: [Value?]
    private var mask: Int
    package private(set) var count = 0

    package init() {
        identifiers = Array(repeating: 0, count: 16)
        values = Array(repeating: nil, count: 16)
        mask = 15
    }

    private func home(_ identifier: UInt32) -> Int { Int(identifier >> 1) & mask }

    /// Where the value of an identifier is.
    package func index(of identifier: UInt32) -> Int? {
        var index = home(identifier)
        while identifiers[index] != 0 {
            if identifiers[index] == identifier { return index }
            index = (index + 1) & mask
        }
        return nil
    }

    package subscript(identifier: UInt32) -> Value? {
        guard let index = index(of: identifier) else { return nil }
        return values[index]
    }

    /// The value at an index that `index(of:)` gave, to be changed in place.
    package mutating func update<Result>(at index: Int, _ body: (inout Value) -> Result) -> Result? {
        guard var value = values[index] else { return nil }
        values[index] = nil
        defer { values[index] = value }
        return body(&value)
    }

    package mutating func insert(_ value: Value, for identifier: UInt32) {
        guard identifier != 0 else { return }
        if (count + 1) * 2 > identifiers.count { grow() }
        place(value, identifier)
    }

    private mutating func place(_ value: Value, _ identifier: UInt32) {
        var index = home(identifier)
        while identifiers[index] != 0, identifiers[index] != identifier { index = (index + 1) & mask }
        if identifiers[index] == 0 { count += 1 }
        identifiers[index] = identifier
        values[index] = value
    }

    private mutating func grow() {
        let (oldIdentifiers, oldValues) = (identifiers, values)
        identifiers = Array(repeating: 0, count: oldIdentifiers.count * 2)
        values = Array(repeating: nil, count: oldIdentifiers.count * 2)
        mask = identifiers.count - 1
        count = 0
        for (identifier, value) in zip(oldIdentifiers, oldValues) where identifier != 0 {
            if let value { place(value, identifier) }
        }
    }

    @discardableResult
    package mutating func remove(_ identifier: UInt32) -> Value? {
        guard var hole = index(of: identifier) else { return nil }
        let removed = values[hole]
        identifiers[hole] = 0
        values[hole] = nil
        count -= 1
        // What comes after, and would not be found across the hole, moves into it.
        var index = (hole + 1) & mask
        while identifiers[index] != 0 {
            let distance = (index - home(identifiers[index])) & mask
            if distance >= (index - hole) & mask {
                identifiers[hole] = identifiers[index]
                values[hole] = values[index]
                identifiers[index] = 0
                values[index] = nil
                hole = index
            }
            index = (index + 1) & mask
        }
        return removed
    }

    /// All identifiers, in ascending order.
    package var allIdentifiers: [UInt32] { identifiers.filter { $0 != 0 }.sorted() }

    /// Changes every value.
    package mutating func updateAll(_ body: (UInt32, inout Value) -> Void) {
        for index in identifiers.indices where identifiers[index] != 0 {
            let identifier = identifiers[index]
            _ = update(at: index) { body(identifier, &$0) }
        }
    }
}

extension StreamTable: Sendable where Value: Sendable {}
