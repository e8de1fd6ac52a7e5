import Foundation
import LoadingKitPrimitives

/// One response in a cache. A key has several where the server chooses between them by the request's fields.
package struct CacheEntry: Sendable {
    package let response: CachedURLResponse
    /// When it was stored.
    package let date: Date

    package init(response: CachedURLResponse, date: Date) {
        self.response = response
        self.date = date
    }

    /// Whether this one takes the other's place under the same key. One that a program stored stands for all requests.
    package func replaces(_ other: CacheEntry) -> Bool {
        guard let mine = response.metadata, let others = other.response.metadata else { return true }
        return mine.variant == others.variant
    }

    /// What it takes of a capacity, in bytes; the key's part not counted.
    package var cost: Int {
        var cost = response.data.count
        if let fields = (response.response as? HTTPURLResponse)?.fields {
            for index in fields.indices {
                fields.withBytes(at: index) { name, value, _ in cost += name.count + value.count }
            }
        }
        return cost
    }

    /// Whether it is for everybody, as far as that is known without the request's credentials and cookies.
    var isForEverybody: Bool { response.metadata.map { $0.owner.isNobody && $0.selectingFields.isEmpty } ?? true }

    /// Whether a program that asks for the response gets it: a part of one is for loaders alone.
    var isComplete: Bool { response.metadata.map { $0.part == nil && !$0.lacksContent } ?? true }
}
