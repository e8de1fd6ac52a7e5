import LoadingKitPrimitives
import Logging

/// Where a store says, once, that it cannot keep things on disk.
///
/// Stores belong to the process and not to a session: what is wrong with one is logged by the logger that a session was
/// last given, else by the program's own (`LoggingSystem`).
package final class StoreLog: Sendable {
    private static let sessionLogger = Guarded<Logger?>(nil)

    private let logger: Logger?
    private let hasWarned = Guarded(false)

    /// - Parameter logger: Nil for those of the process.
    package init(_ logger: Logger? = nil) { self.logger = logger }

    /// Has the stores that have no logger of their own say what they say there.
    package static func use(_ logger: Logger) { sessionLogger.withLock { $0 = logger } }

    /// Logs the first thing that is said, and nothing after it: what follows from one failure is no news.
    package func warn(_ text: String) {
        let isFirst = hasWarned.withLock { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
        guard isFirst else { return }
        let logger = logger ?? Self.sessionLogger.withLock { $0 } ?? Logger(label: "LoadingKit")
        logger.warning("\(text)")
    }
}
