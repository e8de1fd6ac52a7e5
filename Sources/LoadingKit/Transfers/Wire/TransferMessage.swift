import Foundation
import LoadingKitCore

/// The messages between a program and the daemon. The names of the cases and of their values are part of the encoding.
package enum TransferMessage: Codable, Sendable {
    /// The first message of each peer. The program sends its greeting first.
    case hello(Hello)
    /// The last message of a peer that closes the connection, or of a program that requests the daemon's end.
    case goodbye(Goodbye)

    case attach(SessionDescription)
    /// A command of the session. The answer is ``performed(number:error:)`` with the same number.
    case command(number: UInt64, TransferCommand)
    /// Requests a list of all sessions. The answer is ``overview(number:_:)`` messages with the same number, followed
    /// by ``performed(number:error:)``.
    case overviewRequest(number: UInt64)
    /// A command for a transfer of any session. The answer is ``performed(number:error:)`` with the same number.
    case control(number: UInt64, session: String, TransferCommand)

    case performed(number: UInt64, error: TransferError?)
    case event(TransferEvent)
    /// One of the transfers of the ``TransferEvent/attached(_:)`` that follows.
    case transfer(TransferRecord)
    /// A session with one of its transfers.
    case overview(number: UInt64, SessionOverview)

    package struct Hello: Codable, Hashable, Sendable {
        package var versions: WireVersion
        package var library: String
        package var process: Int32
        /// Sent by the daemon: whether the daemon is idle. Nil where it is not known.
        package var isIdle: Bool?
        /// The folder of the journal, by the peer's environment. Nil where it is not known.
        package var stateFolder: String?

        package init(
            versions: WireVersion = .current, library: String = WireVersion.library, process: Int32,
            isIdle: Bool? = nil, stateFolder: String? = nil
        ) {
            (self.versions, self.library, self.process) = (versions, library, process)
            (self.isIdle, self.stateFolder) = (isIdle, stateFolder)
        }
    }

    package struct Goodbye: Codable, Hashable, Sendable {
        package var error: TransferError?
        /// Sent by a program: whether the daemon is to end, too.
        package var endsDaemon: Ending?

        package enum Ending: String, Codable, Sendable {
            /// End only where the daemon is idle: a newer version takes its place.
            case ifIdle
            /// End in any case. The next daemon continues the transfers.
            case always
        }

        package init(error: TransferError? = nil, endsDaemon: Ending? = nil) {
            (self.error, self.endsDaemon) = (error, endsDaemon)
        }
    }
}
