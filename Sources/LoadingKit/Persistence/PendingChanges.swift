import LoadingKitCore

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
