import Foundation

/// Memory for one piece of a body, which becomes a `Data` without a copy.
final class BodyChunk {
    private var base: UnsafeMutableRawPointer?
    private let capacity: Int

    /// Nil when the system has no memory.
    init?(_ capacity: Int) {
        guard capacity > 0, let base = malloc(capacity) else { return nil }
        self.base = base
        self.capacity = capacity
    }

    deinit { free(base) }

    var memory: UnsafeMutableRawBufferPointer? {
        base.map { UnsafeMutableRawBufferPointer(start: $0, count: capacity) }
    }

    /// The first `count` bytes; the memory that they do not need goes back to the system.
    func take(_ count: Int) -> Data? {
        guard let taken = base, count > 0, count <= capacity else { return nil }
        base = nil
        let fitted = count < capacity / 2 ? realloc(taken, count) ?? taken : taken
        return Data(bytesNoCopy: fitted, count: count, deallocator: .free)
    }
}
