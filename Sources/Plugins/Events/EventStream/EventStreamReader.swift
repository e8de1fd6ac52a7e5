import Foundation
import LoadingKit

/// Reads events in sequence, and connects where there is no connection. Used by one task at a time.
final class EventStreamReader {
    private enum Connection {
        case none
        case open(LoadedBody.Iterator, EventStreamParser)
        /// The remaining events are the last; the error follows them.
        case over((any Error)?)
    }

    private let connector: EventStreamConnector
    private let options: EventStreamOptions
    private let monitor: EventStreamMonitor
    private var policy: ReconnectionPolicy
    /// The ID of the last event that was read here, after which the next connection continues. Other readers of the
    /// sequence have their own.
    private var lastEventID: String
    private var connection = Connection.none
    private var attempt = 0
    /// Whether the server has answered a request.
    private var hasAnswered = false
    /// Seconds to wait before the next connection.
    private var pause: Double?
    /// The received events, in order; those before `given` were delivered.
    private var events: [ServerSentEvent] = []
    private var given = 0

    init(connector: EventStreamConnector, options: EventStreamOptions, monitor: EventStreamMonitor) {
        self.connector = connector
        self.options = options
        self.monitor = monitor
        lastEventID = monitor.lastEventID
        policy = ReconnectionPolicy(options.reconnection, method: connector.method)
        if let time = monitor.reconnectionTime { policy.setReconnectionTime(milliseconds: time) }
    }

    deinit { monitor.change(to: .closed) }

    func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
        while true {
            if let event = takeEvent() { return event }
            switch connection {
            case .over(let error):
                connection = .over(nil)
                if let error { throw error }
                return nil
            case .none: try await connect(isolation: actor)
            case .open(let body, let parser): await receive(body, parser, isolation: actor)
            }
        }
    }

    /// An undelivered event does not count as received: the server sends it again after a reconnection.
    private func takeEvent() -> ServerSentEvent? {
        guard given < events.count else { return nil }
        let event = events[given]
        given += 1
        if given == events.count {
            events.removeAll(keepingCapacity: given <= 1024)
            given = 0
            if case .open(_, let parser) = connection {
                note(lastEventID: parser.lastEventID, reconnectionTime: parser.reconnectionTime)
                return event
            }
        }
        note(lastEventID: event.id, reconnectionTime: event.retry)
        return event
    }

    private func note(lastEventID id: String, reconnectionTime: Int?) {
        lastEventID = id
        monitor.note(lastEventID: id, reconnectionTime: reconnectionTime)
    }

    // MARK: Connecting

    private func connect(isolation actor: isolated (any Actor)?) async throws {
        do {
            if let seconds = pause.take() {
                monitor.change(to: .waiting(seconds: seconds))
                try await options.reconnection.sleep(seconds)
            }
            guard !Task.isCancelled else { return end(CancellationError()) }
            attempt += 1
            monitor.change(to: .connecting(attempt: attempt))
            take(try await connector.connect(lastEventID: lastEventID))
        } catch let error as URLError where error.mayPass(hasAnswered: hasAnswered) && !Task.isCancelled {
            settle(.attemptFailed(retryAfter: nil), error)
        } catch {
            end(error)
        }
    }

    private func take(_ response: EventStreamConnector.Response) {
        hasAnswered = true
        switch response {
        case .stream(let bytes):
            policy.connectionDidOpen()
            monitor.change(to: .open)
            let parser = EventStreamParser(lastEventID: lastEventID, limits: options.limits)
            connection = .open(bytes.chunks.makeAsyncIterator(), parser)
        case .noContent: settle(.noContent, nil)
        case .unavailable(let error, let retryAfter): settle(.attemptFailed(retryAfter: retryAfter), error)
        }
    }

    // MARK: Receiving

    private func receive(
        _ body: LoadedBody.Iterator, _ parser: EventStreamParser, isolation actor: isolated (any Actor)?
    ) async {
        var (body, parser) = (body, parser)
        connection = .none  // avoids a copy of the parser's buffers
        do {
            guard let piece = try await body.next(isolation: actor) else { return settle(.streamEnded, nil) }
            defer { learn(from: parser) }
            try parser.receive(piece, into: &events)
            connection = .open(body, parser)
        } catch let error as URLError where error.mayPass(hasAnswered: hasAnswered) && !Task.isCancelled {
            settle(.connectionLost, error)
        } catch {
            end(error)
        }
    }

    private func learn(from parser: EventStreamParser) {
        if let time = parser.reconnectionTime { policy.setReconnectionTime(milliseconds: time) }
        // The ID may also change without an event.
        if events.isEmpty {
            note(lastEventID: parser.lastEventID, reconnectionTime: parser.reconnectionTime)
        }
    }

    private func settle(_ outcome: ReconnectionPolicy.Outcome, _ error: (any Error)?) {
        switch policy.decide(after: outcome, random: options.reconnection.random()) {
        case .reconnect(let seconds):
            pause = seconds
            connection = .none
        case .finish: end(nil)
        case .fail: end(error)
        }
    }

    /// With the text that a session's own error has.
    private static let cancelled = URLError(.cancelled, userInfo: [NSLocalizedDescriptionKey: "cancelled"])

    private func end(_ error: (any Error)?) {
        connection = .over(error is CancellationError ? Self.cancelled : error)
        monitor.change(to: .closed)
    }
}
