import Foundation
import LoadingKit
import Synchronization

/// Counts the bytes of the bodies that pass: those of all sessions whose configurations have this instance.
public final class ByteCounter: LoadInterceptor {
    private let counted = Mutex(0)

    public init() {}

    /// Bytes up to now.
    public var count: Int { counted.withLock { $0 } }

    public var runsOnSessionExecutor: Bool { true }

    public func load(_ load: LoadContext) async throws {
        let loaded = try await load.next.load(load.request)
        try await load.receive(loaded.response)
        // The next piece is read when the program has taken the one before.
        for try await piece in loaded.body {
            counted.withLock { $0 += piece.count }
            try await load.receive(piece)
        }
    }
}
