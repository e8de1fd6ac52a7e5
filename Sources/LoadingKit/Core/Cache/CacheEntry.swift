import Foundation
import LoadingKitPrimitives

/// One response in a cache. A key has several where the server chooses between them by the request's fields.
package struct CacheEntry: Sendable {
    package let response: CachedURLResponse
    /// When the response was stored.
    package let date: Date

    package init(response: CachedURLResponse, date: Date) {
        self.response = response
        self.date = date
    }

    /// Whether this entry replaces another one under the same key. An entry that a program stored is for all requests,
    /// and replaces each, and each replaces it.
    package func replaces(_ other: CacheEntry) -> Bool {
        guard let mine = response.metadata, let others = other.response.metadata else { return true }
        return mine.variant == others.variant
    }

    /// How many bytes of a cache's capacity the entry takes, without its key.
    package var cost: Int {
        var cost = response.data.count
        if let fields = (response.response as? HTTPURLResponse)?.fields {
            for index in fields.indices {
                fields.withBytes(at: index) { name, value, _ in cost += name.count + value.count }
            }
        }
        return cost
    }

    /// Whether the response may be given to any request under its key, whatever the request's credentials and fields
    /// are.
    var isForEverybody: Bool { response.metadata.map { $0.owner.isNobody && $0.varyKey.isEmpty } ?? true }

    /// Whether a program may have the response. One whose content is not whole is for loaders alone.
    var isComplete: Bool { response.metadata.map { $0.part == nil && !$0.lacksContent } ?? true }
}
