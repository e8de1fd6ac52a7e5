/// When a value is removed from a full table.
enum OriginRemoval: Sendable, Comparable {
    case first
    /// When too few other values can be removed.
    case last
    case never
}

/// Values for origins, with a limit: beyond it the least recently used removable values are removed.
struct OriginTable<Value: Sendable>: Sendable {
    private var values: [RequestOrigin: (value: Value, used: UInt64)] = [:]
    private var uses: UInt64 = 0
    private let limit: Int
    private let removal: @Sendable (Value, _ now: Double) -> OriginRemoval

    init(limit: Int, removal: @escaping @Sendable (Value, _ now: Double) -> OriginRemoval = { _, _ in .first }) {
        self.limit = max(1, limit)
        self.removal = removal
    }

    var count: Int { values.count }

    /// The value for an origin, if there is one.
    subscript(origin: RequestOrigin) -> Value? { values[origin]?.value }

    /// Changes the value for an origin; `make` makes it where there is none.
    ///
    /// - Parameter now: The time that `removal` gets.
    mutating func with<Result>(
        _ origin: RequestOrigin, at now: Double = 0, or make: () -> Value, _ body: (inout Value) -> Result
    ) -> Result {
        uses &+= 1
        if values[origin] == nil { makeRoom(at: now) }
        var value = values.removeValue(forKey: origin)?.value ?? make()
        let result = body(&value)
        values[origin] = (value, uses)
        return result
    }

    private mutating func makeRoom(at now: Double) {
        guard values.count >= limit else { return }
        // Of the values that are removed first, an eighth is removed at once: the search is not repeated for each new origin.
        let order = values.map { (origin: $0.key, removal: removal($0.value.value, now), used: $0.value.used) }
            .filter { $0.removal != .never }
            .sorted { ($0.removal, $0.used) < ($1.removal, $1.used) }
        let needed = values.count - limit + 1
        for (place, entry) in order.prefix(max(needed, limit / 8)).enumerated()
        where place < needed || entry.removal == .first { values[entry.origin] = nil }
    }
}
