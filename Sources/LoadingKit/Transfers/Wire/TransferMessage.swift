import Foundation
import LoadingKitCore

/// What a program and the daemon say to each other. The names of the cases, and of what they have, are what is sent.
package enum TransferMessage: Codable, Sendable {
    /// The first message of each end; the program begins.
    case hello(Hello)
    /// The last message of an end that closes the connection, or of a program that has the daemon end.
    case goodbye(Goodbye)

    /// The connection is this session's from now on.
    case attach(SessionDescription)
    /// A command of the session; ``performed(number:error:)`` with the same number answers.
    case command(number: UInt64, TransferCommand)
    /// Asks for all sessions; ``overview(number:_:)`` with the same number answers, and then ``performed(number:error:)``.
    case overviewRequest(number: UInt64)
    /// A command for a transfer of any session; ``performed(number:error:)`` with the same number answers.
    case control(number: UInt64, session: String, TransferCommand)

    case performed(number: UInt64, error: TransferError?)
    case event(TransferEvent)
    /// One of the transfers of the ``TransferEvent/attached(_:)`` that follows.
    case transfer(TransferRecord)
    /// A session with one of its transfers.
    case overview(number: UInt64, SessionOverview)

    package struct Hello: Codable, Hashable, Sendable {
        package var versions: WireVersion
        /// The version of the library.
        package var library: String
        package var process: Int32
        /// Of the daemon: whether it has nothing to do. Nil where it is not known.
        package var isIdle: Bool?

        package init(
            versions: WireVersion = .current, library: String = WireVersion.library, process: Int32,
            isIdle: Bool? = nil
        ) {
            (self.versions, self.library, self.process, self.isIdle) = (versions, library, process, isIdle)
        }
    }

    package struct Goodbye: Codable, Hashable, Sendable {
        /// Why the connection is closed.
        package var error: TransferError?
        /// Of a program: whether the daemon is to end, too.
        package var endsDaemon: Ending?

        package enum Ending: String, Codable, Sendable {
            /// Only where it has nothing to do: a newer version takes its place.
            case ifIdle
            /// In any case. What it does goes on with the next daemon.
            case always
        }

        package init(error: TransferError? = nil, endsDaemon: Ending? = nil) {
            (self.error, self.endsDaemon) = (error, endsDaemon)
        }
    }
}
