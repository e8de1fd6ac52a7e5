/// The life of an HTTP/2 connection: whether it takes requests, how it reads, and which reports are due.
///
/// ```
///              a request is sent                the server's GOAWAY,
///   ┌──────┐ ───────────────────▶ ┌────────┐    or the pool retires it     ┌─────────┐
///   │ idle │                      │ active │ ────────────────────────────▶ │ leaving │
///   └──────┘ ◀─────────────────── └────────┘    (as from idle)             └─────────┘
///              the pool keeps it
///   Any state ── the pool closes it, its last stream has ended while it leaves, or it is lost ──▶ closed
/// ```
///
/// A connection begins as active, without streams. The pool has requests for it, or keeps it as idle.
enum HTTP2ConnectionLife: Hashable {
    /// The connection has no streams. The pool keeps it among the process's idle connections.
    case idle(HTTP2Opening)
    case active(HTTP2Opening, Work)
    /// The connection takes no new streams, and ends with its current ones.
    case leaving(Departure, Work)
    case closed

    /// The activity for the streams of a connection.
    struct Work: Hashable {
        var reading = Reading.flowing
        /// Whether a report of ended streams is scheduled on the loop.
        var willReport = false
    }

    enum Reading: Hashable {
        case flowing
        /// All streams are held back. Bytes for them are left in TCP's buffers for a while.
        case resting
        /// All streams are still held back, but the server may be waiting for an answer to a PING: bodies are kept, as
        /// far as the windows allow.
        case readingOn
    }

    struct Departure: Hashable {
        /// Whether the remaining streams are those that the server may have processed according to its GOAWAY.
        var isAfterGoAway: Bool
        /// Whether the server has responded to any request.
        var hasAnswered: Bool
    }

    /// Whether a GOAWAY had reported the processed streams when the connection was closed.
    enum Closing: Hashable {
        case unannounced, afterGoAway
    }

    /// The action after streams have ended.
    enum StreamsEnd: Hashable {
        case reportSlots, close, nothing
    }

    init() { self = .active(HTTP2Opening(), Work()) }

    var isIdle: Bool { if case .idle = self { true } else { false } }

    var isClosed: Bool { if case .closed = self { true } else { false } }

    /// Whether the connection takes new streams.
    var isOpen: Bool {
        switch self {
        case .idle, .active: true
        case .leaving, .closed: false
        }
    }

    /// Whether the server's SETTINGS were received, or no longer matter.
    var hasSettings: Bool {
        switch self {
        case .idle(let opening), .active(let opening, _): opening.hasSettings
        case .leaving, .closed: true
        }
    }

    /// The state of reading; nil after the connection is closed.
    var reading: Reading? {
        switch self {
        case .idle: .flowing
        case .active(_, let work), .leaving(_, let work): work.reading
        case .closed: nil
        }
    }

    // MARK: From the pool

    /// A request is about to be sent. Returns whether there was a request before; nil if the connection takes no more.
    mutating func noteRequest() -> Bool? {
        switch self {
        case .idle(var opening):
            let isReused = opening.noteRequest()
            self = .active(opening, Work())
            return isReused
        case .active(var opening, let work):
            let isReused = opening.noteRequest()
            self = .active(opening, work)
            return isReused
        case .leaving, .closed: return nil
        }
    }

    /// The pool has no request for the connection. The connection has no streams, and is kept.
    mutating func keep() {
        switch self {
        case .active(let opening, _): self = .idle(opening)
        case .idle, .leaving, .closed: break
        }
    }

    /// The connection takes no more requests.
    mutating func retire() {
        switch self {
        case .idle(let opening): leave(Work(), isAfterGoAway: false, hasAnswered: opening.hasAnswered)
        case .active(let opening, let work): leave(work, isAfterGoAway: false, hasAnswered: opening.hasAnswered)
        case .leaving, .closed: break
        }
    }

    private mutating func leave(_ work: Work, isAfterGoAway: Bool, hasAnswered: Bool) {
        self = .leaving(Departure(isAfterGoAway: isAfterGoAway, hasAnswered: hasAnswered), work)
    }

    /// Closes the connection. Returns its earlier state; nil if it was closed before.
    mutating func close() -> Closing? {
        defer { self = .closed }
        switch self {
        case .idle, .active: return .unannounced
        case .leaving(let departure, _): return departure.isAfterGoAway ? .afterGoAway : .unannounced
        case .closed: return nil
        }
    }

    // MARK: From the server

    /// The server's SETTINGS were received.
    mutating func noteSettings() {
        switch self {
        case .idle(var opening):
            opening.noteSettings()
            self = .idle(opening)
        case .active(var opening, let work):
            opening.noteSettings()
            self = .active(opening, work)
        case .leaving, .closed: break
        }
    }

    /// A response was received. Returns whether it is the first.
    mutating func noteAnswer() -> Bool {
        switch self {
        case .idle(var opening):
            let isFirst = opening.noteAnswer()
            self = .idle(opening)
            return isFirst
        case .active(var opening, let work):
            let isFirst = opening.noteAnswer()
            self = .active(opening, work)
            return isFirst
        case .leaving(var departure, let work):
            guard !departure.hasAnswered else { return false }
            departure.hasAnswered = true
            self = .leaving(departure, work)
            return true
        case .closed: return false
        }
    }

    /// The server takes no more streams. Returns whether it has responded to a request.
    mutating func noteGoAway() -> Bool {
        switch self {
        case .idle(let opening):
            leave(Work(), isAfterGoAway: true, hasAnswered: opening.hasAnswered)
            return opening.hasAnswered
        case .active(let opening, let work):
            leave(work, isAfterGoAway: true, hasAnswered: opening.hasAnswered)
            return opening.hasAnswered
        case .leaving(let departure, let work):
            leave(work, isAfterGoAway: true, hasAnswered: departure.hasAnswered)
            return departure.hasAnswered
        case .closed: return true
        }
    }

    // MARK: Reading

    /// Changes the activity for the streams, in states that can have streams.
    private mutating func update(_ change: (inout Work) -> Bool) -> Bool {
        switch self {
        case .active(let opening, var work):
            guard change(&work) else { return false }
            self = .active(opening, work)
        case .leaving(let departure, var work):
            guard change(&work) else { return false }
            self = .leaving(departure, work)
        case .idle, .closed: return false
        }
        return true
    }

    /// All streams are held back. Returns whether a rest begins.
    mutating func rest() -> Bool {
        update { work in
            guard work.reading == .flowing else { return false }
            work.reading = .resting
            return true
        }
    }

    /// The rest has lasted long enough. Returns whether reading continues.
    mutating func endRest() -> Bool {
        update { work in
            guard work.reading == .resting else { return false }
            work.reading = .readingOn
            return true
        }
    }

    /// A stream is no longer held back, or a new stream was opened. Returns whether this ends a rest.
    mutating func readAgain() -> Bool {
        guard let reading, reading != .flowing else { return false }
        _ = update { work in
            work.reading = .flowing
            return true
        }
        return reading == .resting
    }

    // MARK: Streams that end

    /// Streams end, and others may end in this turn of the loop. Returns whether a report must be scheduled on the
    /// loop.
    mutating func planReport() -> Bool {
        update { work in
            guard !work.willReport else { return false }
            work.willReport = true
            return true
        }
    }

    /// The scheduled report is due. Returns whether it is still needed.
    mutating func takeReport() -> Bool {
        update { work in
            guard work.willReport else { return false }
            work.willReport = false
            return true
        }
    }

    /// The action after streams have ended, depending on whether the last one has.
    func streamsEnd(isLast: Bool) -> StreamsEnd {
        switch self {
        case .idle, .active: .reportSlots
        case .leaving: isLast ? .close : .nothing
        case .closed: .nothing
        }
    }
}

extension HTTP2ConnectionLife: CustomStringConvertible {
    var description: String {
        switch self {
        case .idle(let opening): "idle, \(opening)"
        case .active(let opening, let work): "active, \(opening)\(work)"
        case .leaving(let departure, let work): "leaving\(departure)\(work)"
        case .closed: "closed"
        }
    }
}

extension HTTP2ConnectionLife.Work: CustomStringConvertible {
    var description: String { (reading == .flowing ? "" : ", \(reading)") + (willReport ? ", will report" : "") }
}

extension HTTP2ConnectionLife.Departure: CustomStringConvertible {
    var description: String { (isAfterGoAway ? " after GOAWAY" : "") + (hasAnswered ? ", answered" : "") }
}
