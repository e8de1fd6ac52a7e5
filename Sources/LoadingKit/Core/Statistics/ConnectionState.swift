import LoadingKitPrimitives
import LoadingKitTransport

/// A connection of a session, as it is at the moment.
package struct ConnectionState: Sendable {
    package enum Phase: UInt8, Sendable {
        case opening
        /// It carries requests.
        case active
        case idle
        /// It carries its last requests.
        case closing
    }

    /// The bytes that each side may send before the other one enlarges the window. They may be below 0.
    package struct Windows: Sendable {
        package let send: Int
        package let receive: Int

        package init(send: Int, receive: Int) { (self.send, self.receive) = (send, receive) }
    }

    /// A stream of an HTTP/2 connection.
    package struct Stream: Sendable {
        package let number: UInt32
        /// The identifier of the task; nil where the load has ended, and its stream has not.
        package let task: Int?
        /// Whether the request is not sent completely.
        package let isSending: Bool
        /// Whether the response is not received completely.
        package let isReceiving: Bool
        package let windows: Windows

        package init(number: UInt32, task: Int?, isSending: Bool, isReceiving: Bool, windows: Windows) {
            self.number = number
            self.task = task
            self.isSending = isSending
            self.isReceiving = isReceiving
            self.windows = windows
        }
    }

    package struct HTTP2: Sendable {
        package let openStreams: Int
        /// The largest number of streams that may be open at a time: `Int32.max` where the server states none.
        package let allowedStreams: Int
        package let windows: Windows
        /// In the order of their numbers. Empty in a snapshot for figures alone.
        package let streams: [Stream]

        package init(openStreams: Int, allowedStreams: Int, windows: Windows, streams: [Stream]) {
            self.openStreams = openStreams
            self.allowedStreams = allowedStreams
            self.windows = windows
            self.streams = streams
        }
    }

    /// The number among the session's connections; 0 where there is none yet.
    package let number: UInt32
    /// Nil while the connection is being opened.
    package let kind: ConnectionProtocol?
    package let phase: Phase
    /// The addresses, the version of TLS and the times of opening; nil while the connection is being opened.
    package let info: ConnectionInfo?
    /// The requests, or FTP transfers, that the connection has carried, with the present ones.
    package var requestCount = 0
    package var http2: HTTP2?

    /// A connection that is being opened.
    package init(opening number: UInt32) {
        (self.number, kind, phase, info) = (number, nil, .opening, nil)
    }

    package init(_ info: ConnectionInfo, _ kind: ConnectionProtocol, _ phase: Phase) {
        (number, self.kind, self.phase, self.info) = (info.number, kind, phase, info)
    }
}

/// The present state of a session's schemes.
package struct SessionSnapshot: Sendable {
    package var connections: [ConnectionState] = []
    /// Whether the streams of connections are wanted.
    package let listsStreams: Bool
    /// The requests that wait for a connection.
    package private(set) var waitingCount = 0
    /// The largest number of requests that wait for connections to one server.
    package private(set) var longestQueue = 0
    package var decodeBufferBytes = 0

    init(listsStreams: Bool) { self.listsStreams = listsStreams }

    /// - Parameter count: the requests that wait for connections to a server.
    package mutating func addQueue(_ count: Int) {
        waitingCount += count
        longestQueue = max(longestQueue, count)
    }
}
