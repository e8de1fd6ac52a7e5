/// Which keys are being read from the disk, so that what is read does not take the place of what came meanwhile.
struct DiskReads: Sendable {
    private struct Read: Sendable {
        var readers = 0
        var isOutdated = false
    }

    private var reads: [CacheKey: Read] = [:]

    mutating func begin(_ key: CacheKey) { reads[key, default: Read()].readers += 1 }

    /// Something else is under the key now.
    mutating func outdate(_ key: CacheKey) { reads[key]?.isOutdated = true }

    mutating func outdateAll() {
        for key in reads.keys { reads[key]?.isOutdated = true }
    }

    /// Whether what was read is still so.
    mutating func end(_ key: CacheKey) -> Bool {
        guard var read = reads[key] else { return false }
        read.readers -= 1
        reads[key] = read.readers > 0 ? read : nil
        return !read.isOutdated
    }
}
