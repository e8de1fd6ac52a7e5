/// Values for origins, with a limit: beyond it the least recently used removable values are removed.
struct OriginTable<Value: Sendable>: Sendable {
    private var values: [RequestOrigin: (value: Value, used: UInt64)] = [:]
    private var uses: UInt64 = 0
    private let limit: Int
    private let mayGo: @Sendable (Value) -> Bool

    init(limit: Int, mayGo: @escaping @Sendable (Value) -> Bool = { _ in true }) {
        self.limit = max(1, limit)
        self.mayGo = mayGo
    }

    var count: Int { values.count }

    /// The value for an origin, if there is one.
    subscript(origin: RequestOrigin) -> Value? { values[origin]?.value }

    /// Changes the value for an origin; `make` makes it where there is none.
    mutating func with<Result>(
        _ origin: RequestOrigin, or make: () -> Value, _ body: (inout Value) -> Result
    ) -> Result {
        uses &+= 1
        if values[origin] == nil { makeRoom() }
        var value = values.removeValue(forKey: origin)?.value ?? make()
        let result = body(&value)
        values[origin] = (value, uses)
        return result
    }

    private mutating func makeRoom() {
        guard values.count >= limit else { return }
        // An eighth is removed at once, so that the search is not repeated for each new origin.
        let oldest = values.filter { mayGo($0.value.value) }.sorted { $0.value.used < $1.value.used }
        for (origin, _) in oldest.prefix(max(1, limit / 8)) { values[origin] = nil }
    }
}
