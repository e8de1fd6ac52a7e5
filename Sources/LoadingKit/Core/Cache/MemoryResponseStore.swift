import Foundation

/// The responses that a cache has in memory. A key may have several; all of them are removed together when room is
/// needed.
struct MemoryResponseStore: Sendable {
    /// The largest number of responses under one key: the last stored are kept. More are rare, and each costs a
    /// comparison in a look-up.
    static let maximumVariants = 16

    /// The responses under one key, the last stored first. Their cost is the sum of the entries' and the key's.
    private struct Variants: Sendable {
        let key: CacheKey
        var entries: [CacheEntry]

        var cost: Int { entries.reduce(key.url.utf8.count) { $0 + $1.cost } }
    }

    private var variants: LeastRecentlyUsedStore<CacheKey, Variants>

    init(capacity: Int) { variants = LeastRecentlyUsedStore(capacity: capacity) }

    var capacity: Int { variants.capacity }
    /// One response of a session may use at most this fraction of the capacity: 1/20.
    static let share = 20
    var largest: Int { capacity / Self.share }
    var usage: Int { variants.totalCost }

    mutating func entries(for key: CacheKey) -> [CacheEntry] { variants.value(for: key)?.entries ?? [] }

    /// Stores a response, and returns the removed responses.
    ///
    /// - Parameters:
    ///   - limit: the largest permitted cost of the response.
    ///   - isElsewhere: whether the disk has this response and the others under the key. Responses that memory does not
    ///     keep are then found there.
    mutating func store(
        _ entry: CacheEntry, for key: CacheKey, upTo limit: Int = .max, isElsewhere: Bool = false
    ) -> [CacheEntry] {
        let old = variants.remove(key)?.entries ?? []
        let others = old.filter { !entry.replaces($0) }.prefix(Self.maximumVariants - 1)
        var made = Variants(key: key, entries: [entry] + others)
        // A response that is too large for the memory is not stored, but the responses that it replaces are removed.
        if made.cost > capacity || entry.cost > limit {
            if isElsewhere { return old }
            made.entries.remove(at: 0)
        }
        return old + insert(made)
    }

    /// Stores responses that were read from the disk, and returns the removed responses. A large response is not
    /// stored, because it would displace many others.
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
