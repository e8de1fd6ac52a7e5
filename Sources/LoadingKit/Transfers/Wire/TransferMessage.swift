import Foundation
import LoadingKitCore

/// What a program and the daemon say to each other.
package enum TransferMessage: Sendable {
    /// The first message of each end; the program begins.
    case hello(Hello)
    /// The last message of an end that closes the connection, or of a program that has the daemon end.
    case goodbye(Goodbye)

    /// The connection is this session's from now on.
    case attach(SessionDescription)
    /// A command of the session; ``performed(number:error:)`` with the same number answers.
    case command(number: UInt64, TransferCommand)
    /// Asks for all sessions; ``overview(number:_:)`` with the same number answers, and ``overviewEnd(number:)``.
    case overviewRequest(number: UInt64)
    /// A command for a transfer of any session; ``performed(number:error:)`` with the same number answers.
    case control(number: UInt64, session: String, TransferCommand)

    case performed(number: UInt64, error: TransferError?)
    case event(TransferEvent)
    /// Some of the transfers of the ``TransferEvent/attached(_:)`` that follows.
    case snapshots([TransferRecord])
    /// Some of the sessions. One with many transfers comes in parts, which have the same identifier.
    case overview(number: UInt64, [SessionOverview])
    case overviewEnd(number: UInt64)

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
            self.versions = versions
            self.library = library
            self.process = process
            self.isIdle = isIdle
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
            self.error = error
            self.endsDaemon = endsDaemon
        }
    }

    package var kind: MessageKind {
        switch self {
        case .hello: .hello
        case .goodbye: .goodbye
        case .attach: .attach
        case .command: .command
        case .overviewRequest: .overviewRequest
        case .control: .control
        case .performed: .performed
        case .event: .event
        case .snapshots: .snapshots
        case .overview: .overview
        case .overviewEnd: .overviewEnd
        }
    }
}

/// What was received: a message, or one that a later version has.
package enum ReceivedMessage: Sendable {
    case message(TransferMessage)
    /// A kind, a command or an event that is not known. With a number where the peer waits for an answer.
    case unknown(kind: UInt16, number: UInt64?)
}
