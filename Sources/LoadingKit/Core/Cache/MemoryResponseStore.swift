import Foundation

/// The responses that a cache has in memory. A key may have several; all of them are removed together when room is
/// needed.
struct MemoryResponseStore: Sendable {
    /// How many responses one key may have: those that were stored last. More are rare, and each costs a comparison in
    /// a look-up.
    static let maximumVariants = 16

    /// The responses under one key, the last stored first. Their cost is that of the entries and of the key.
    private struct Variants: Sendable {
        let key: CacheKey
        var entries: [CacheEntry]

        var cost: Int { entries.reduce(key.url.utf8.count) { $0 + $1.cost } }
    }

    private var variants: LeastRecentlyUsedStore<CacheKey, Variants>

    init(capacity: Int) { variants = LeastRecentlyUsedStore(capacity: capacity) }

    var capacity: Int { variants.capacity }
    /// The part of the capacity that one response of a session may take.
    static let share = 20
    var largest: Int { capacity / Self.share }
    var usage: Int { variants.totalCost }

    mutating func entries(for key: CacheKey) -> [CacheEntry] { variants.value(for: key)?.entries ?? [] }

    /// Keeps a response, and gives back those that were removed.
    ///
    /// - Parameters:
    ///   - limit: what it may cost.
    ///   - isElsewhere: whether the disk has it, and the others under the key: where the memory does not keep it, they are looked
    ///     for there.
    mutating func store(
        _ entry: CacheEntry, for key: CacheKey, upTo limit: Int = .max, isElsewhere: Bool = false
    ) -> [CacheEntry] {
        let old = variants.remove(key)?.entries ?? []
        let others = old.filter { !entry.replaces($0) }.prefix(Self.maximumVariants - 1)
        var made = Variants(key: key, entries: [entry] + others)
        // A response that is too large for the memory is not kept, but those that it replaces are removed.
        if made.cost > capacity || entry.cost > limit {
            if isElsewhere { return old }
            made.entries.remove(at: 0)
        }
        return old + insert(made)
    }

    /// Keeps responses that were read from the disk, and gives back those that were removed. One that is large would take the place
    /// of many others.
    mutating func restore(_ entries: [CacheEntry], for key: CacheKey) -> [CacheEntry] {
        guard entries.allSatisfy({ $0.cost <= largest }) else { return [] }
        return insert(Variants(key: key, entries: entries))
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
