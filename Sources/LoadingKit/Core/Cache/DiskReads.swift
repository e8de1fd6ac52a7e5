/// The keys that are being read from the disk. What was read must not replace a response that was stored meanwhile.
struct DiskReads: Sendable {
    private struct Read: Sendable {
        var readers = 0
        var isOutdated = false
    }

    private var reads: [CacheKey: Read] = [:]

    mutating func begin(_ key: CacheKey) { reads[key, default: Read()].readers += 1 }

    /// The key's responses were stored or removed: what is being read for it is out of date.
    mutating func outdate(_ key: CacheKey) { reads[key]?.isOutdated = true }

    mutating func outdateAll() {
        for key in reads.keys { reads[key]?.isOutdated = true }
    }

    /// Ends a read. True when what it has read is still current.
    mutating func end(_ key: CacheKey) -> Bool {
        guard var read = reads[key] else { return false }
        read.readers -= 1
        reads[key] = read.readers > 0 ? read : nil
        return !read.isOutdated
    }
}
