import Foundation
import LoadingKitPrimitives

/// A body that is being recorded, up to a number of bytes.
final class RecordedBody: Sendable {
    private struct State {
        var data = Data()
        var size = 0
        var isOmitted = false
    }

    private let state = Guarded(State())
    private let limit: Int

    /// - Parameter limit: the largest size of a body whose bytes are kept; of a longer one only the size is.
    init(limit: Int) { self.limit = limit }

    func append(_ bytes: some Collection<UInt8>) {
        state.withLock { state in
            state.size += bytes.count
            // An incomplete body is of no use.
            if state.size > limit { state.data = Data() } else { state.data.append(contentsOf: bytes) }
        }
    }

    /// Takes a whole body, without copying it.
    func take(_ data: Data) {
        state.withLock { state in
            state.size = data.count
            if data.count <= limit { state.data = data }
        }
    }

    /// Counts `count` bytes that are not read.
    func skip(_ count: Int) {
        state.withLock { state in
            state.size += count
            state.isOmitted = true
        }
    }

    /// Releases the bytes, and keeps their number.
    func omit() {
        state.withLock { state in
            state.data = Data()
            state.isOmitted = true
        }
    }

    /// The number of bytes of the body.
    var size: Int { state.withLock { $0.size } }

    var heldBytes: Int { state.withLock { $0.data.count } }

    /// Nil where the body exceeds the limit.
    var data: Data? { state.withLock { $0.size <= limit && !$0.isOmitted ? $0.data : nil } }
}
