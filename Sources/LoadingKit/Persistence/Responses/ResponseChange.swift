import Foundation
import LoadingKitCore

/// A change of the responses that a cache keeps on disk.
enum ResponseChange: Sendable {
    case store(CacheEntry, CacheKey)
    case remove(CacheKey)
    /// Rows that turned out to be damaged.
    case discard([Int64])
    case removeAll
    case removeSince(Date)
    /// What is too much goes, and what was used is noted.
    case tidy

    /// What concerns one key.
    var key: CacheKey? {
        switch self {
        case .store(_, let key), .remove(let key): key
        case .discard, .removeAll, .removeSince, .tidy: nil
        }
    }

    /// Whether it may concern any key.
    var concernsAll: Bool {
        switch self {
        case .removeAll, .removeSince: true
        case .store, .remove, .discard, .tidy: false
        }
    }

    /// How long the content is that it has to write.
    var size: Int {
        if case .store(let entry, _) = self { entry.response.data.count } else { 0 }
    }
}

/// What is on its way to the disk, by what it concerns.
struct PendingChanges: Sendable {
    private var keys: [CacheKey: Int] = [:]
    private var concerningAll = 0
    /// The contents that are to be written, in bytes.
    private(set) var size = 0

    func contains(_ key: CacheKey) -> Bool { concerningAll > 0 || keys[key] != nil }

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
