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
