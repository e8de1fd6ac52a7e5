import Foundation
import LoadingKit

extension URLSession {
    /// The events of a server (`text/event-stream`), as they are received. Loading starts with the first read.
    ///
    ///     for try await event in session.events(for: URLRequest(url: url)) { print(event.event, event.data) }
    ///
    /// - Parameter delegate: a delegate for these loads only, called before the session's, for example for challenges.
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

/// The options of an event stream.
public struct EventStreamOptions: Sendable {
    /// The options for reconnection.
    public var reconnection = ReconnectionOptions()
    /// The limits for memory.
    public var limits = EventStreamLimits()
    /// The ID of the last event that the program has received earlier; the server may continue after it. An ID with
    /// control characters is not sent. Default empty: that in the request's field `Last-Event-ID`, if it has one.
    public var lastEventID = ""
    /// Seconds without a byte, even of a comment, after which the connection counts as lost. Default 300. A request
    /// whose `timeoutInterval` is not 60 keeps its own timeout, and so does a session whose `timeoutIntervalForRequest`
    /// is not 60.
    public var idleTimeout = 300.0

    /// Makes the default options.
    public init() {}
}

/// The events of a server, over as many connections as necessary (HTML §9.2).
///
/// While events are not read, the connection is not read either. When the iterator is released, or the reading task is
/// cancelled, the connection ends.
///
/// Each iterator has its own connections, and starts after the last event that was read when it was made: an iterator
/// made after the release of another one continues. Iterators that are used at the same time each get all events.
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
        // Later requests have the ID of the last event, which a server may set to none.
        var rest = request
        rest.setValue(nil, forHTTPHeaderField: "Last-Event-ID")
        let own = request.value(forHTTPHeaderField: "Last-Event-ID") ?? ""
        self.session = session
        self.request = rest
        self.options = options
        self.delegate = delegate
        monitor = EventStreamMonitor(lastEventID: options.lastEventID.isEmpty ? own : options.lastEventID)
    }

    /// The current state of the stream.
    public var state: EventStreamState { monitor.state }

    /// The state of the stream, and each later change, for as long as the sequence exists. Of more than 64 unread
    /// changes the oldest are lost.
    public var states: AsyncStream<EventStreamState> { monitor.observe() }

    /// The ID of the last event that an iterator has read; empty where there is none. For
    /// ``EventStreamOptions/lastEventID`` in a later run of the program.
    public var lastEventID: String { monitor.lastEventID }

    /// Starts to read; the connection is made for the first event.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            EventStreamReader(
                connector: EventStreamConnector(session, request, options, delegate), options: options,
                monitor: monitor))
    }

    /// Iterates over the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: EventStreamReader

        init(_ reader: EventStreamReader) { self.reader = reader }

        /// The next event; nil when the server has ended the stream with 204, or by closing it where there is no
        /// reconnection.
        ///
        /// - Throws: `URLError`, ``EventStreamError`` and ``EventStreamParseError``. `URLError.cancelled` when the task
        ///   is cancelled. No more events follow an error.
        public mutating func next() async throws -> ServerSentEvent? { try await next(isolation: nil) }

        /// The next event, without leaving the caller's actor where an event is already available.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            try await reader.next(isolation: actor)
        }
    }
}
