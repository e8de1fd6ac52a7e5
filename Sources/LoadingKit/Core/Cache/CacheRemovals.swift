/// When a load began, among a cache's removals.
package struct CacheMark: Sendable {
    fileprivate let number: UInt64
}

/// The latest removals of responses. A response whose load began before a removal of its key is not stored: it may be
/// older than the change because of which the others were removed, or be the removed response, validated by the server.
struct CacheRemovals: Sendable {
    /// The number of keys that are remembered. Beyond it loads that began before older removals count as outdated.
    static let maximumKeys = 256

    private var count: UInt64 = 0
    /// The last removal of all keys, or of one that is no longer remembered.
    private var lastOfAll: UInt64 = 0
    /// By the keys' hashes: a key has a URL, which may have hundreds of kilobytes. Two keys with the same hash count as
    /// one, so that a response may not be stored, which does no harm.
    private var lastOfKeys: [Int: UInt64] = [:]

    var mark: CacheMark { CacheMark(number: count) }

    mutating func note(_ key: CacheKey) {
        count += 1
        lastOfKeys[key.hashValue] = count
        if lastOfKeys.count > Self.maximumKeys { forgetOlderHalf() }
    }

    private mutating func forgetOlderHalf() {
        let last = lastOfKeys.values.sorted()[lastOfKeys.count / 2]
        lastOfKeys = lastOfKeys.filter { $0.value > last }
        lastOfAll = last
    }

    mutating func noteAll() {
        count += 1
        lastOfAll = count
        lastOfKeys = [:]
    }

    /// Whether the key's responses were removed since the mark.
    func includes(_ key: CacheKey, since mark: CacheMark) -> Bool {
        guard mark.number < count else { return false }
        return mark.number < lastOfAll || lastOfKeys[key.hashValue].map { mark.number < $0 } ?? false
    }
}
