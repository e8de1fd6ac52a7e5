import Foundation
import LoadingKitCore

/// A change of the responses that a cache stores on disk.
enum ResponseChange: Sendable {
    case store(CacheEntry, CacheKey)
    case remove(CacheKey)
    /// Removes rows that turned out to be damaged.
    case discard([Int64])
    case removeAll
    case removeSince(Date)
    /// Removes responses beyond the capacity, and records the uses of others.
    case tidy

    /// The key of a change that concerns a single key.
    var key: CacheKey? {
        switch self {
        case .store(_, let key), .remove(let key): key
        case .discard, .removeAll, .removeSince, .tidy: nil
        }
    }

    /// Whether the change may concern any key.
    var concernsAll: Bool {
        switch self {
        case .removeAll, .removeSince: true
        case .store, .remove, .discard, .tidy: false
        }
    }

    var size: Int { if case .store(let entry, _) = self { entry.response.parts.data.count } else { 0 } }
}

/// The changes that have not been written yet, by the keys that they concern.
struct PendingChanges: Sendable {
    private var keys: [CacheKey: Int] = [:]
    private var concerningAll = 0
    /// The size of the contents to write, in bytes.
    private(set) var size = 0

    func contains(_ key: CacheKey) -> Bool { concerningAll > 0 || keys[key] != nil }

    /// The keys of the changes that concern a single key.
    var keysOfChanges: [CacheKey] { Array(keys.keys) }

    mutating func insert(_ change: ResponseChange) {
        if let key = change.key { keys[key, default: 0] += 1 }
        if change.concernsAll { concerningAll += 1 }
        size += change.size
    }

    mutating func remove(_ change: ResponseChange) {
        if let key = change.key, let count = keys[key] { keys[key] = count > 1 ? count - 1 : nil }
        if change.concernsAll { concerningAll -= 1 }
        size -= change.size
    }
}

/// The keys in a cache's database, as far as this process knows them. They are represented by their hash values, so a
/// false positive is possible.
struct KnownKeys: Sendable {
    private var hashes: Set<Int> = []
    /// Whether the keys that were in the database before are included.
    private var isComplete = false
    /// The last row that was read.
    private(set) var last: Int64 = 0
    /// While all rows are read, to replace the set: the keys that it keeps, as their rows may be too new to be read.
    private var kept: Set<Int>?

    var count: Int { hashes.count }

    func mayContain(_ key: CacheKey) -> Bool { !isComplete || hashes.contains(key.hashValue) }

    mutating func insert(_ key: CacheKey) {
        hashes.insert(key.hashValue)
        kept?.insert(key.hashValue)
    }

    mutating func remove(_ key: CacheKey) {
        hashes.remove(key.hashValue)
        kept?.remove(key.hashValue)
    }

    /// All rows up to a number are known.
    mutating func insert(_ new: Set<Int>, upTo last: Int64) {
        hashes.formUnion(new)
        isComplete = true
        self.last = max(self.last, last)
    }

    /// All rows are about to be read. False where another thread already does so.
    mutating func beginReplacement(keeping keys: [CacheKey]) -> Bool {
        guard kept == nil else { return false }
        kept = Set(keys.map(\.hashValue))
        return true
    }

    /// All rows, up to a number, were read. Later ones that were known are found again.
    mutating func replace(by all: Set<Int>, upTo last: Int64) {
        hashes = all.union(kept ?? [])
        kept = nil
        isComplete = true
        self.last = last
    }

    mutating func cancelReplacement() { kept = nil }
}
