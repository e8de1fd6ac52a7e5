import LoadingKitPrimitives
import Logging

/// Logs, once, that a store cannot write to disk.
///
/// Stores belong to the process and not to a session: a store's failure is logged by the logger that was last assigned
/// to a session, or otherwise by the program's own (`LoggingSystem`).
package final class StoreLog: Sendable {
    private static let sessionLogger = Guarded<Logger?>(nil)

    private let logger: Logger?
    private let hasWarned = Guarded(false)

    /// - Parameter logger: Nil for the process's loggers.
    package init(_ logger: Logger? = nil) { self.logger = logger }

    package static func use(_ logger: Logger) {
        // The former logger is destroyed after the lock is released: its handler is the program's.
        withExtendedLifetime(sessionLogger.withLock { exchange(&$0, for: logger) }) {}
    }

    /// Logs the first warning, and none after it: further warnings would repeat the same failure.
    package func warn(_ text: String) {
        guard !hasWarned.withLock({ exchange(&$0, for: true) }) else { return }
        let logger = logger ?? Self.sessionLogger.withLock { $0 } ?? Logger(label: "LoadingKit")
        logger.warning("\(text)")
    }
}
