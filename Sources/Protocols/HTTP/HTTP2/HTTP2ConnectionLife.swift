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

    struct Work: Hashable {
        var reading = Reading.flowing
        var willReport = false
    }

    enum Reading: Hashable {
        case flowing
        /// All streams are held back. Bytes for them are left in TCP's buffers for a while.
        case resting
        /// All streams are still held back. The connection reads because the server may await an answer to a PING.
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

    enum StreamsEnd: Hashable {
        case reportSlots, close, nothing
    }

    init() { self = .active(HTTP2Opening(), Work()) }

    var isIdle: Bool { if case .idle = self { true } else { false } }
    var isClosed: Bool { if case .closed = self { true } else { false } }

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

    /// Returns whether there was a request before; nil if the connection takes no more.
    mutating func noteRequest() -> Bool? {
        switch self {
        case .idle(let opening): self = .active(opening, Work())
        case .active, .leaving, .closed: break
        }
        return updateOpening { $0.noteRequest() }
    }

    mutating func keep() {
        switch self {
        case .active(let opening, _): self = .idle(opening)
        case .idle, .leaving, .closed: break
        }
    }

    mutating func retire() {
        switch self {
        case .idle(let opening): leave(Work(), isAfterGoAway: false, hasAnswered: opening.hasAnswered)
        case .active(let opening, let work): leave(work, isAfterGoAway: false, hasAnswered: opening.hasAnswered)
        case .leaving, .closed: break
        }
    }

    @discardableResult
    private mutating func leave(_ work: Work, isAfterGoAway: Bool, hasAnswered: Bool) -> Bool {
        self = .leaving(Departure(isAfterGoAway: isAfterGoAway, hasAnswered: hasAnswered), work)
        return hasAnswered
    }

    /// Returns nil if the connection was closed before.
    mutating func close() -> Closing? {
        defer { self = .closed }
        switch self {
        case .idle, .active: return .unannounced
        case .leaving(let departure, _): return departure.isAfterGoAway ? .afterGoAway : .unannounced
        case .closed: return nil
        }
    }

    // MARK: From the server

    mutating func noteSettings() { updateOpening { $0.noteSettings() } }

    /// Nil in states in which the beginning no longer matters.
    @discardableResult
    private mutating func updateOpening<R>(_ change: (inout HTTP2Opening) -> R) -> R? {
        switch self {
        case .idle(var opening):
            defer { self = .idle(opening) }
            return change(&opening)
        case .active(var opening, let work):
            defer { self = .active(opening, work) }
            return change(&opening)
        case .leaving, .closed: return nil
        }
    }

    /// Returns whether the response is the first.
    mutating func noteAnswer() -> Bool {
        if let isFirst = updateOpening({ $0.noteAnswer() }) { return isFirst }
        guard case .leaving(var departure, let work) = self, !departure.hasAnswered else { return false }
        departure.hasAnswered = true
        self = .leaving(departure, work)
        return true
    }

    /// Returns whether the server has responded to a request.
    mutating func noteGoAway() -> Bool {
        switch self {
        case .idle(let opening): leave(Work(), isAfterGoAway: true, hasAnswered: opening.hasAnswered)
        case .active(let opening, let work): leave(work, isAfterGoAway: true, hasAnswered: opening.hasAnswered)
        case .leaving(let departure, let work):
            leave(work, isAfterGoAway: true, hasAnswered: departure.hasAnswered)
        case .closed: true
        }
    }

    // MARK: Reading

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

    /// Returns whether a rest begins.
    mutating func rest() -> Bool {
        update { work in
            guard work.reading == .flowing else { return false }
            work.reading = .resting
            return true
        }
    }

    /// Returns whether reading continues after the rest.
    mutating func endRest() -> Bool {
        update { work in
            guard work.reading == .resting else { return false }
            work.reading = .readingOn
            return true
        }
    }

    /// A stream has room again, or a new one was opened. Returns whether this ends a rest.
    mutating func readAgain() -> Bool {
        guard let reading, reading != .flowing else { return false }
        _ = update { work in
            work.reading = .flowing
            return true
        }
        return reading == .resting
    }

    // MARK: Streams that end

    /// Returns whether a report must be scheduled on the loop. Other streams may end before it.
    mutating func planReport() -> Bool {
        update { work in
            guard !work.willReport else { return false }
            work.willReport = true
            return true
        }
    }

    /// Returns whether the scheduled report is still needed.
    mutating func takeReport() -> Bool {
        update { work in
            guard work.willReport else { return false }
            work.willReport = false
            return true
        }
    }

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
