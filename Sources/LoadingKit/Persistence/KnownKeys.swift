import LoadingKitCore

/// Which keys a cache's database has, as far as this process knows: by their hash values, so that a false yes is possible.
struct KnownKeys: Sendable {
    private var hashes: Set<Int> = []
    /// Whether those are there, too, that were in the database before.
    private var isComplete = false
    /// The last row that was looked at.
    private(set) var last: Int64 = 0

    func mayContain(_ key: CacheKey) -> Bool { !isComplete || hashes.contains(key.hashValue) }

    mutating func insert(_ key: CacheKey) { hashes.insert(key.hashValue) }

    mutating func remove(_ key: CacheKey) { hashes.remove(key.hashValue) }

    /// All rows up to a number are known.
    mutating func insert(_ new: Set<Int>, upTo last: Int64) {
        hashes.formUnion(new)
        isComplete = true
        self.last = max(self.last, last)
    }
}
