import Foundation

/// The responses that a cache has in memory: some for each key, forgotten key by key.
struct MemoryResponseStore: Sendable {
    /// How many responses of one URL are kept, the last stored first. More are rare, and each costs a comparison.
    static let maximumVariants = 16

    /// What a key has. Its cost is that of its entries, and of the key.
    private struct Variants: Sendable {
        let key: CacheKey
        var entries: [CacheEntry]

        var cost: Int { entries.reduce(key.url.utf8.count) { $0 + $1.cost } }
    }

    private var variants: LeastRecentlyUsedStore<CacheKey, Variants>

    init(capacity: Int) { variants = LeastRecentlyUsedStore(capacity: capacity) }

    var capacity: Int { variants.capacity }
    var usage: Int { variants.totalCost }

    mutating func entries(for key: CacheKey) -> [CacheEntry] { variants.value(for: key)?.entries ?? [] }

    /// Keeps a response, and gives back what had to go.
    mutating func store(_ entry: CacheEntry, for key: CacheKey) -> [CacheEntry] {
        let old = variants.remove(key)?.entries ?? []
        let others = old.filter { !entry.replaces($0) }.prefix(Self.maximumVariants - 1)
        var made = Variants(key: key, entries: [entry] + others)
        // What is too large for the memory takes no other with it, but does replace what it replaces.
        if made.cost > capacity { made.entries.remove(at: 0) }
        return old + insert(made)
    }

    /// Takes over what was found elsewhere.
    mutating func restore(_ entries: [CacheEntry], for key: CacheKey) -> [CacheEntry] {
        insert(Variants(key: key, entries: entries))
    }

    private mutating func insert(_ made: Variants) -> [CacheEntry] {
        guard !made.entries.isEmpty else { return [] }
        return variants.insert(made, for: made.key, cost: made.cost).flatMap(\.entries)
    }

    mutating func remove(_ key: CacheKey) -> [CacheEntry] { variants.remove(key)?.entries ?? [] }

    mutating func removeAll() -> [CacheEntry] { variants.removeAll { _ in true }.flatMap(\.entries) }

    mutating func removeAll(since date: Date) -> [CacheEntry] {
        let touched = variants.removeAll { $0.entries.contains { $0.date >= date } }
        for old in touched {
            var kept = old
            kept.entries.removeAll { $0.date >= date }
            _ = insert(kept)
        }
        return touched.flatMap(\.entries)
    }

    mutating func setCapacity(_ capacity: Int) -> [CacheEntry] {
        variants.setCapacity(capacity).flatMap(\.entries)
    }
}
