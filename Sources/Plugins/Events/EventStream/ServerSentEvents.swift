import Foundation
import LoadingKit

extension URLSession {
    /// The events of a server (`text/event-stream`), as they are received. Nothing is loaded before they are asked for.
    ///
    ///     for try await event in session.events(for: URLRequest(url: url)) { print(event.event, event.data) }
    ///
    /// - Parameter delegate: a delegate for these loads alone, asked before the session's: for challenges, for instance.
    public func events(
        for request: URLRequest, options: EventStreamOptions = EventStreamOptions(),
        delegate: (any URLSessionTaskDelegate)? = nil
    ) -> ServerSentEvents {
        ServerSentEvents(session: self, request: request, options: options, delegate: delegate)
    }

    /// The events of a server at a URL; see ``events(for:options:delegate:)``.
    public func events(from url: URL, options: EventStreamOptions = EventStreamOptions()) -> ServerSentEvents {
        events(for: URLRequest(url: url), options: options)
    }
}

/// How an event stream is read.
public struct EventStreamOptions: Sendable {
    /// When the stream is connected to again.
    public var reconnection = ReconnectionOptions()
    /// What the server may have the stream take into memory.
    public var limits = EventStreamLimits()
    /// The ID of the last event that the program has seen earlier; the server may go on behind it. Default empty: none.
    public var lastEventID = ""
    /// Seconds without a byte, also of a comment, after which the connection counts as lost. Default 300. A request whose
    /// `timeoutInterval` is not 60 keeps that.
    public var idleTimeout = 300.0

    /// The default options.
    public init() {}
}

/// The events of a server, over as many connections as it takes, by HTML §9.2.
///
/// While events are not read, neither is the connection. When the iterator is let go, or the task that reads is cancelled,
/// the connection ends.
///
/// Each iterator has connections of its own. One that is made after another has been let go goes on behind the last event
/// that was read.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    private let session: URLSession
    private let request: URLRequest
    private let options: EventStreamOptions
    private let delegate: (any URLSessionTaskDelegate)?
    private let monitor: EventStreamMonitor

    init(
        session: URLSession, request: URLRequest, options: EventStreamOptions,
        delegate: (any URLSessionTaskDelegate)?
    ) {
        self.session = session
        self.request = request
        self.options = options
        self.delegate = delegate
        monitor = EventStreamMonitor(lastEventID: options.lastEventID)
    }

    /// Where the stream stands now.
    public var state: EventStreamState { monitor.state }

    /// Where the stream stands, and each change from now on, for as long as the sequence exists. Of more than 64 changes that
    /// were not read the oldest are lost.
    public var states: AsyncStream<EventStreamState> { monitor.observe() }

    /// The ID of the last event that was received; empty where there is none. For ``EventStreamOptions/lastEventID`` of a
    /// later run of the program.
    public var lastEventID: String { monitor.lastEventID }

    /// Begins to read; the connection is made when the first event is asked for.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            EventStreamReader(
                connector: EventStreamConnector(session, request, options, delegate), options: options,
                monitor: monitor))
    }

    /// Gives the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: EventStreamReader

        init(_ reader: EventStreamReader) { self.reader = reader }

        /// The next event; nil when the server has ended the stream by 204, or by its end where it is not connected to again.
        ///
        /// - Throws: `URLError`, ``EventStreamError`` and ``EventStreamParseError``. `URLError.cancelled` when the task is
        ///   cancelled. After that there are no more events.
        public mutating func next() async throws -> ServerSentEvent? { try await next(isolation: nil) }

        /// The next event, without leaving the caller's actor where one is there already.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            try await reader.next(isolation: actor)
        }
    }
}
