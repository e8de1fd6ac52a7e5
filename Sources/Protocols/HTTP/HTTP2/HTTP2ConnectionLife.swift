/// The life of an HTTP/2 connection: whether it takes requests, how it reads, and what it is still to report.
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
/// It begins as active, without streams: the pool has requests for it, or keeps it as idle.
enum HTTP2ConnectionLife: Hashable {
    /// The pool keeps it, without streams, among the process's idle connections.
    case idle(HTTP2Opening)
    case active(HTTP2Opening, Work)
    /// No new streams; it ends with those that it has.
    case leaving(Departure, Work)
    case closed

    /// What is going on for the streams of a connection.
    struct Work: Hashable {
        var reading = Reading.flowing
        /// Whether the report of streams that have ended is among the loop's work.
        var willReport = false
    }

    enum Reading: Hashable {
        case flowing
        /// All streams are held back: what comes for them is left to TCP for a while.
        case resting
        /// They still are, but the server may be waiting for an answer to a PING: bodies are kept, as far as windows go.
        case readingOn
    }

    struct Departure: Hashable {
        /// Whether the streams that it has are those which the server, by its GOAWAY, may have processed.
        var isAfterGoAway: Bool
        /// Whether the server has answered any request.
        var hasAnswered: Bool
    }

    /// Whether the server had said what it has processed when the connection was closed.
    enum Closing: Hashable {
        case unannounced, afterGoAway
    }

    /// What follows when streams have ended.
    enum StreamsEnd: Hashable {
        case reportSlots, close, nothing
    }

    init() { self = .active(HTTP2Opening(), Work()) }

    var isIdle: Bool { if case .idle = self { true } else { false } }

    var isClosed: Bool { if case .closed = self { true } else { false } }

    /// Whether it takes new streams.
    var isOpen: Bool {
        switch self {
        case .idle, .active: true
        case .leaving, .closed: false
        }
    }

    /// Whether the server's SETTINGS have come, or no longer matter.
    var hasSettings: Bool {
        switch self {
        case .idle(let opening), .active(let opening, _): opening.hasSettings
        case .leaving, .closed: true
        }
    }

    /// How it reads; nil where it is closed, and reads no more.
    var reading: Reading? {
        switch self {
        case .idle: .flowing
        case .active(_, let work), .leaving(_, let work): work.reading
        case .closed: nil
        }
    }

    // MARK: From the pool

    /// A request is about to be sent. Gives whether there was one before; nil where none can be sent any more.
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

    /// The pool has no request for the connection, which has no streams, and keeps it.
    mutating func keep() {
        switch self {
        case .active(let opening, _): self = .idle(opening)
        case .idle, .leaving, .closed: break
        }
    }

    /// Takes no more requests.
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

    /// Ends the connection. Gives how it was before; nil where that was done already.
    mutating func close() -> Closing? {
        defer { self = .closed }
        switch self {
        case .idle, .active: return .unannounced
        case .leaving(let departure, _): return departure.isAfterGoAway ? .afterGoAway : .unannounced
        case .closed: return nil
        }
    }

    // MARK: From the server

    /// The server's SETTINGS have come.
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

    /// A response has come. Gives whether it is the first.
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

    /// The server takes no more streams. Gives whether it has answered a request.
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

    /// Changes what is going on for the streams, where there may be any.
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

    /// All streams are held back. Gives whether a rest begins.
    mutating func rest() -> Bool {
        update { work in
            guard work.reading == .flowing else { return false }
            work.reading = .resting
            return true
        }
    }

    /// The rest has lasted long enough. Gives whether there is to be read.
    mutating func endRest() -> Bool {
        update { work in
            guard work.reading == .resting else { return false }
            work.reading = .readingOn
            return true
        }
    }

    /// A stream is no longer held back, or there is another. Gives whether a rest ends by that.
    mutating func readAgain() -> Bool {
        guard let reading, reading != .flowing else { return false }
        _ = update { work in
            work.reading = .flowing
            return true
        }
        return reading == .resting
    }

    // MARK: Streams that end

    /// Streams end, and others may do so in this turn of the loop. Gives whether the loop is to be asked for a report.
    mutating func planReport() -> Bool {
        update { work in
            guard !work.willReport else { return false }
            work.willReport = true
            return true
        }
    }

    /// The loop comes to the report. Gives whether it is still wanted.
    mutating func takeReport() -> Bool {
        update { work in
            guard work.willReport else { return false }
            work.willReport = false
            return true
        }
    }

    /// What follows when streams have ended, the last of them or others.
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
