import LoadingKitPrimitives

/// What requests and responses have in common: a head, a body in one of four framings, a trailer section (RFC 9112 §2.1).
///
///     head ──▶ body ──▶ ending ──▶ head of the next message
///                └▶ trailers ─┘      or another protocol, or nothing
@usableFromInline
struct MessageReader: Sendable {
    enum Event {
        /// The head is complete: its start line and fields are in `scanner`; `beginBody` must follow.
        case head
        case body(Range<Int>)
        /// There are trailer fields, which ``takeTrailers()`` gives.
        case trailers
        case end
    }

    /// What may come after a message.
    enum Sequel: Sendable { case message, anotherProtocol, nothing }

    @usableFromInline
    enum State: Sendable {
        /// In a head, or between messages.
        case head
        /// This many bytes of a body of known length are left, at least one.
        case length(UInt64)
        /// In a chunked body, at the place of `decoder`.
        case chunked
        case trailers
        case untilClose
        /// The message is complete; its end is still to be reported.
        case ending
        /// The bytes that follow are not HTTP/1.1 (101, or a tunnel).
        case anotherProtocol
        /// No byte may follow.
        case nothing
        /// The reason is `failure`.
        case failed
    }

    @usableFromInline var scanner: HeadScanner
    @usableFromInline var state = State.head
    /// Not in the state, from which it would be copied for each chunk.
    @usableFromInline var decoder: ChunkDecoder
    private var sequel = Sequel.message
    private var headSize = SectionSize()
    private var trailers = HTTPFields()
    /// Not in the state, whose other cases are distinguished faster without it.
    private var failure = HTTP1Error(.unexpectedBytes)
    /// How many bytes of the message have been read, up to the end of the last call. After a head, and before
    /// ``beginBody(_:then:)`` or ``beginNextHead()``, it is the head's length, with the empty lines before it.
    @usableFromInline var consumed = 0

    init(subject: HeadScanner.Subject, limits: HTTP1Limits) {
        scanner = HeadScanner(subject: subject, limits: limits)
        decoder = ChunkDecoder(subject: subject, limits: limits)
    }

    /// Whether nothing has come of the next message.
    var isBetweenMessages: Bool {
        switch state {
        case .head: scanner.isUntouched
        case .length, .chunked, .trailers, .untilClose, .ending, .anotherProtocol, .nothing, .failed: false
        }
    }

    /// Whether the bytes that follow are not HTTP/1.1.
    var isSwitched: Bool {
        switch state {
        case .anotherProtocol: true
        case .head, .length, .chunked, .trailers, .untilClose, .ending, .nothing, .failed: false
        }
    }

    /// Whether they are once the message's end has been reported.
    var isSwitching: Bool {
        switch state {
        case .ending: sequel == .anotherProtocol
        case .anotherProtocol: true
        case .head, .length, .chunked, .trailers, .untilClose, .nothing, .failed: false
        }
    }

    /// Whether it is in a head, or between messages.
    @inlinable @inline(__always)
    var isWaiting: Bool { if case .head = state { true } else { false } }

    /// Whether the next byte is a head's first.
    @inlinable @inline(__always)
    var isAtHead: Bool { if isWaiting, case .emptyLine = scanner.step { true } else { false } }

    /// Whether the message is complete and its end is still to be reported.
    @inlinable @inline(__always)
    var isEnding: Bool { if case .ending = state { true } else { false } }

    /// The data of a chunked body that the input goes on with, where that is plain to see: what happens most often, without
    /// all that ``next(_:_:)`` looks at.
    @inlinable
    @inline(__always)
    mutating func nextChunkData(_ input: UnsafeRawBufferPointer, _ position: inout Int) -> Range<Int>? {
        guard case .chunked = state, position < input.count else { return nil }
        let start = position
        let range = decoder.takeData(input, &position)
        consumed &+= position &- start
        return range
    }

    /// Reads a response's head that is there as a whole, and plain. Where it is not, some of it may have been read.
    @inline(__always)
    mutating func readPlainHead(_ input: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
        let start = position
        let isComplete = scanner.scanPlainHead(input, &position)
        consumed &+= position &- start
        return isComplete
    }

    /// Whether a head has been read that ``beginBody(_:then:)`` or ``beginNextHead()`` is still to follow.
    var hasHead: Bool { isWaiting && scanner.step == .complete }

    /// Reads on.
    mutating func next(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Event? {
        let start = position
        do throws(HTTP1Error) {
            let event = try read(input, &position)
            if case .end? = event { consumed = 0 } else { consumed &+= position &- start }
            return event
        } catch {
            fail(error)
            throw error
        }
    }

    @inline(__always)
    private mutating func read(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Event? {
        switch state {
        case .head:
            return try scanner.scan(input, &position) ? .head : nil
        case .length(let remaining):
            guard position < input.count else { return nil }
            let count = Int(clamping: Swift.min(remaining, UInt64(input.count - position)))
            state = remaining > UInt64(count) ? .length(remaining - UInt64(count)) : .ending
            return takeBody(count, &position)
        case .untilClose:
            guard position < input.count else { return nil }
            return takeBody(input.count - position, &position)
        case .chunked:
            return try readChunked(input, &position)
        case .trailers:
            return try readTrailers(input, &position)
        case .ending:
            end()
            return .end
        case .anotherProtocol:
            return nil
        case .nothing:
            guard position < input.count else { return nil }
            throw HTTP1Error(.unexpectedBytes, offset: consumed)
        case .failed:
            throw failure
        }
    }

    private func takeBody(_ count: Int, _ position: inout Int) -> Event {
        let range = position..<position + count
        position += count
        return .body(range)
    }

    private mutating func readChunked(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Event? {
        let start = position
        switch try decoder.next(input, &position, origin: consumed &- start) {
        case nil:
            return nil
        case .body(let range):
            return .body(range)
        case .lastChunk:
            scanner.beginTrailers(after: headSize, origin: consumed &+ (position &- start))
            state = .trailers
            return try readTrailers(input, &position)
        }
    }

    private mutating func readTrailers(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Event? {
        guard try scanner.scan(input, &position) else { return nil }
        let trailers = takeAllowedTrailers()
        guard trailers.isEmpty else {
            state = .ending
            self.trailers = trailers
            return .trailers
        }
        end()
        return .end
    }

    /// The message's end is reported.
    @usableFromInline
    mutating func end() {
        scanner.beginHead()
        consumed = 0
        switch sequel {
        case .message: state = .head
        case .anotherProtocol: state = .anotherProtocol
        case .nothing: state = .nothing
        }
    }
}

// MARK: - What the parser decides, and what its user reads elsewhere

extension MessageReader {
    /// Comes before the head just read is looked at.
    @inline(__always)
    mutating func completeHead() {
        headSize = scanner.size
        scanner.complete()
    }

    private mutating func takeAllowedTrailers() -> HTTPFields {
        scanner.complete()
        return Trailers.allowed(in: scanner.section)
    }

    /// The trailer fields that were just read.
    mutating func takeTrailers() -> HTTPFields {
        defer { trailers = HTTPFields() }
        return trailers
    }

    /// Says how the body of the message whose head was just read ends, and what may come after it.
    mutating func beginBody(_ framing: BodyFraming, then sequel: Sequel) {
        self.sequel = sequel
        switch framing {
        case .none, .length(0): state = .ending
        case .length(let count): state = .length(count)
        case .chunked:
            decoder = ChunkDecoder(subject: scanner.subject, limits: scanner.limits)
            state = .chunked
        case .untilClose: state = .untilClose
        }
    }

    /// The head just read is of an interim response: another head follows, without an end.
    mutating func beginNextHead() {
        scanner.beginHead()
        consumed = 0
    }

    /// The head just read may not be.
    mutating func fail(_ error: HTTP1Error) {
        state = .failed
        failure = error
    }

    @inlinable
    var directBodyBytes: Int {
        switch state {
        case .length(let remaining): Int(clamping: remaining)
        case .chunked: Int(clamping: decoder.remainingInChunk)
        case .untilClose: .max
        case .head, .trailers, .ending, .anotherProtocol, .nothing, .failed: 0
        }
    }

    mutating func didReadBody(_ count: Int) -> Bool {
        let count = Swift.min(Swift.max(0, count), directBodyBytes)
        consumed &+= count
        switch state {
        case .length(let remaining):
            guard UInt64(count) < remaining else {
                end()
                return true
            }
            state = .length(remaining - UInt64(count))
        case .chunked:
            decoder.skipData(UInt64(count))
        case .head, .trailers, .untilClose, .ending, .anotherProtocol, .nothing, .failed:
            break
        }
        return false
    }

    /// The peer has closed the connection.
    mutating func finish() throws(HTTP1Error) -> Event? {
        switch state {
        case .head where scanner.isUntouched:
            state = .nothing
            return nil
        case .ending, .untilClose:
            sequel = .nothing
            end()
            return .end
        case .head: throw failClosed(.inHead)
        case .length(let remaining): throw failClosed(.inBody(missing: remaining))
        case .chunked: throw failClosed(.inChunkedBody)
        case .trailers: throw failClosed(.inTrailers)
        case .anotherProtocol, .nothing: return nil
        case .failed: throw failure
        }
    }

    private mutating func failClosed(_ place: HTTP1Error.ClosedEarly) -> HTTP1Error {
        let error = HTTP1Error(.closedEarly(place), offset: consumed)
        fail(error)
        return error
    }
}
