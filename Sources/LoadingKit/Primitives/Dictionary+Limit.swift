extension Dictionary {
    /// Sets a value. Where it is a new one beyond the limit, any other is removed.
    package mutating func set(_ value: Value, for key: Key, limit: Int) {
        if count >= limit, self[key] == nil, let other = keys.first { self[other] = nil }
        self[key] = value
    }
}
