import LoadingKitPrimitives

/// The common parts of requests and responses: a head, a body in one of four framings, and a trailer section (RFC 9112
/// §2.1).
///
///     head ──▶ body ──▶ ending ──▶ head of the next message
///                └▶ trailers ─┘      or another protocol, or nothing
@usableFromInline
struct MessageReader: Sendable {
    enum Event {
        /// The head is complete. Its start line and fields are in `scanner`. A call of `beginBody` must follow.
        case head
        case body(Range<Int>)
        /// There are trailer fields, which ``takeTrailers()`` returns.
        case trailers
        case end
    }

    /// The kind of bytes that may follow a message.
    enum NextMessage: Sendable { case message, anotherProtocol, nothing }

    @usableFromInline
    enum State: Sendable {
        /// In a head, or between messages.
        case head
        /// In a body of known length, of which this number of bytes, at least one, is left.
        case length(UInt64)
        /// In a chunked body. `decoder` has the position.
        case chunked
        case trailers
        case untilClose
        /// The message is complete. Its end has not been reported yet.
        case ending
        /// The bytes that follow are not HTTP/1.1 (101, or a tunnel).
        case anotherProtocol
        /// No byte may follow.
        case nothing
        /// Reading has failed with the error in `failure`.
        case failed
    }

    @usableFromInline var scanner: HeadScanner
    @usableFromInline var state = State.head
    /// The decoder is not in the state, because it would then be copied for each chunk.
    @usableFromInline var decoder: ChunkDecoder
    private var sequel = NextMessage.message
    private var headSize = SectionSize()
    private var trailers = HTTPFields()
    /// The error is not in the state, whose other cases are distinguished faster without it.
    private var failure = HTTP1Error(.unexpectedBytes)
    /// The number of the message's bytes that were read up to the end of the last call. After a head, and before
    /// ``beginBody(_:then:)`` or ``beginNextHead()``, it is the head's length, including the empty lines before it.
    @usableFromInline var consumed = 0

    init(subject: HeadScanner.Subject, limits: HTTP1Limits) {
        scanner = HeadScanner(subject: subject, limits: limits)
        decoder = ChunkDecoder(subject: subject, limits: limits)
    }

    /// Whether no byte of the next message has arrived.
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

    /// Whether the bytes that follow are not HTTP/1.1 after the message's end was reported.
    var isSwitching: Bool {
        switch state {
        case .ending: sequel == .anotherProtocol
        case .anotherProtocol: true
        case .head, .length, .chunked, .trailers, .untilClose, .nothing, .failed: false
        }
    }

    /// Whether the reader is in a head, or between messages.
    @inlinable @inline(__always)
    var isWaiting: Bool { if case .head = state { true } else { false } }

    /// Whether the next byte is the first byte of a head.
    @inlinable @inline(__always)
    var isAtHead: Bool { if isWaiting, case .emptyLine = scanner.step { true } else { false } }

    /// Whether the message is complete and its end has not been reported yet.
    @inlinable @inline(__always)
    var isEnding: Bool { if case .ending = state { true } else { false } }

    /// The data of a chunked body at the current position of the input, if the input is plain there. This is the most
    /// frequent case, without the checks of ``next(_:_:)``.
    @inlinable
    @inline(__always)
    mutating func nextChunkData(_ input: UnsafeRawBufferPointer, _ position: inout Int) -> Range<Int>? {
        guard case .chunked = state, position < input.count else { return nil }
        let start = position
        let range = decoder.takeData(input, &position)
        consumed &+= position &- start
        return range
    }

    /// Reads a response's head that is complete and plain in the input. Otherwise a part of it may have been read.
    @inline(__always)
    mutating func readPlainHead(_ input: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
        let start = position
        let isComplete = scanner.scanPlainHead(input, &position)
        consumed &+= position &- start
        return isComplete
    }

    /// Whether a head was read for which ``beginBody(_:then:)`` or ``beginNextHead()`` must still be called.
    var hasHead: Bool { isWaiting && scanner.step == .complete }

    /// Reads up to the next event.
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

    /// Moves to the next state after the message's end was reported.
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

// MARK: - Decisions of the parser, and bytes read by its user

extension MessageReader {
    /// Must be called before the head that was read is used.
    @inline(__always)
    mutating func completeHead() {
        headSize = scanner.size
        scanner.complete()
    }

    private mutating func takeAllowedTrailers() -> HTTPFields {
        scanner.complete()
        return Trailers.allowed(in: scanner.section)
    }

    /// Returns the trailer fields that were read.
    mutating func takeTrailers() -> HTTPFields {
        defer { trailers = HTTPFields() }
        return trailers
    }

    /// Sets the framing of the body after the head that was read, and the kind of bytes that may follow the message.
    mutating func beginBody(_ framing: BodyFraming, then sequel: NextMessage) {
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

    /// The head that was read belongs to an interim response. Another head follows, without an end.
    mutating func beginNextHead() {
        scanner.beginHead()
        consumed = 0
    }

    /// The head that was read is not allowed.
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
