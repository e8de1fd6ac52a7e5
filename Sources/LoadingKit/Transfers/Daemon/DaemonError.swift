import Foundation
import LoadingKitCore

/// Why there is no daemon to perform transfers.
package struct DaemonError: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }

    /// As a session reports it.
    package var transferError: TransferError {
        TransferError(.backgroundSessionWasDisconnected, "Background sessions are not available: \(description)")
    }
}
