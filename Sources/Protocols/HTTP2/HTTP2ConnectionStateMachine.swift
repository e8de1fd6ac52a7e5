import LoadingKitHPACK
import LoadingKitPrimitives

/// One side of an HTTP/2 connection (RFC 9113): bytes received become events, and what is to be sent becomes bytes.
///
/// Pure: its user moves the bytes, has the clock, and decides what to send. Whatever is put in ``output`` is to be
/// written, in that order. After an error of the connection nothing more can be received or sent, but ``output`` is to
/// be written still: it ends with GOAWAY.
public struct HTTP2ConnectionStateMachine: Sendable {
    /// Which side of the connection this is.
    public enum Role: Sendable {
        case client, server
    }

    enum Phase: Sendable {
        /// A server waits for so many more bytes of the client's preface.
        case awaitsPreface(remaining: Int)
        /// The first frame must be SETTINGS (RFC 9113 §3.4).
        case awaitsSettings
        case open
        case failed(HTTP2Error)
    }

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Streams that this side has reset lately, whose frames may still be on their way.
    static let rememberedStreams = 256

    /// How many streams are opened before the peer has said how many it takes.
    static let presumedStreams = 100

    /// Which side of the connection this is.
    public let role: Role
    /// Bytes to be written; whoever has written some removes them.
    public var output: [UInt8] = []
    /// What this side has told the peer of itself.
    public internal(set) var settings: HTTP2Settings
    /// What the peer has told of itself; the RFC's defaults before that.
    public internal(set) var peerSettings = HTTP2Settings()
    /// Whether the peer's SETTINGS have come.
    public internal(set) var hasPeerSettings = false

    let limits: HTTP2Limits
    var phase: Phase
    var frames: HTTP2FrameDecoder
    var decoder: HPACKDecoder
    var encoder = HPACKEncoder()
    var list = HPACKHeaderList()
    var streams = StreamTable<HTTP2Stream>()
    var flood: HTTP2FloodGuard
    var receiving: HTTP2ReceiveWindow
    var sendWindow = 65_535
    /// The next stream that this side opens.
    var nextStream: UInt32
    /// The last stream that the peer has opened.
    var lastPeerStream: UInt32 = 0
    /// Streams that this side has opened and that are not closed.
    public internal(set) var openStreams = 0
    /// The last stream that the peer will look at, once it has said GOAWAY.
    var lastAcceptedStream: UInt32?
    var hasSentGoAway = false
    var recentlyReset: [UInt32] = []
    var recentlyEnded: [UInt32] = []

    /// - Parameters:
    ///   - settings: this side's. A client's never allow pushes.
    ///   - connectionWindow: what the peer may have on its way on all streams together, in bytes.
    public init(
        _ role: Role, settings: HTTP2Settings = HTTP2Settings(), connectionWindow: Int = 65_535,
        limits: HTTP2Limits = HTTP2Limits()
    ) {
        self.role = role
        self.limits = limits
        self.settings = settings
        self.settings.enablesPush = role == .server && settings.enablesPush
        frames = HTTP2FrameDecoder(limits: limits)
        frames.maximumFrameSize = settings.maximumFrameSize
        decoder = HPACKDecoder(maximumTableSize: settings.headerTableSize, limits: limits.fields)
        flood = HTTP2FloodGuard(limits)
        receiving = HTTP2ReceiveWindow(target: 65_535, window: 65_535)
        switch role {
        case .client:
            phase = .awaitsSettings
            nextStream = 1
            output = Self.preface
        case .server:
            phase = .awaitsPreface(remaining: Self.preface.count)
            nextStream = 2
        }
        HTTP2FrameWriter.settings(self.settings.parameters, into: &output)
        setConnectionWindow(connectionWindow)
    }

    // MARK: Receiving

    /// Takes bytes of `input` from `position` on, which moves behind them, until they mean something. Nil when all are
    /// taken.
    ///
    /// A stream's errors are events; what is thrown ends the connection.
    public mutating func receive(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP2Error) -> HTTP2Event? {
        do throws(HTTP2Error) {
            if case .awaitsPreface(let remaining) = phase {
                guard try takePreface(remaining, input, &position) else { return nil }
            }
            while true {
                if case .failed(let error) = phase { throw error }
                do throws(HTTP2Error) {
                    guard let frame = try frames.next(input, &position) else { return nil }
                    if let event = try handle(frame, input) { return event }
                } catch {
                    guard case .stream(let stream) = error.scope else { throw error }
                    if let event = try failStream(stream, error) { return event }
                }
            }
        } catch {
            fail(error)
            throw error
        }
    }

    private mutating func takePreface(
        _ remaining: Int, _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP2Error) -> Bool {
        let count = min(remaining, input.count - position)
        let expected = Self.preface[(Self.preface.count - remaining)...].prefix(count)
        guard input[position..<position + count].elementsEqual(expected) else {
            throw .connection(.protocolError, "the client does not begin as HTTP/2 begins")
        }
        position += count
        phase = count == remaining ? .awaitsSettings : .awaitsPreface(remaining: remaining - count)
        return count == remaining
    }

    private mutating func handle(
        _ frame: HTTP2Frame, _ input: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> HTTP2Event? {
        if case .awaitsSettings = phase {
            guard case .settings = frame else {
                throw .connection(.protocolError, "the peer's first frame is not SETTINGS")
            }
            phase = .open
        }
        switch frame {
        case .data(let stream, let bytes, let counted, let isFirst, let isLast, let endStream):
            return try receiveData(
                stream, bytes, counted: counted, isEmptyFrame: isFirst && isLast && bytes.isEmpty, endStream)
        case .headers(let stream, let block, let endStream, _):
            return try receiveHeaders(stream, block, input, endStream)
        case .priority:
            try flood.countUseless("PRIORITY")
            return nil
        case .reset(let stream, let code):
            return try receiveReset(stream, code)
        case .settings(let settings):
            return try receiveSettings(settings)
        case .settingsAcknowledgement:
            return .settingsAcknowledged
        case .pushPromise:
            throw .connection(.protocolError, "a push, which was refused in SETTINGS")
        case .ping(let value, isAcknowledgement: true):
            try flood.countUseless("PING")
            return .pingAcknowledged(value)
        case .ping(let value, isAcknowledgement: false):
            try flood.countUseless("PING")
            HTTP2FrameWriter.ping(value, isAcknowledgement: true, into: &output)
            return nil
        case .goAway(let last, let code, let debugData):
            return try receiveGoAway(last, code, frames.withBytes(debugData, of: input) { Array($0.prefix(256)) })
        case .windowUpdate(let stream, let increment):
            return try receiveWindowUpdate(stream, increment)
        case .unknown(let type, _):
            try flood.countUseless("a frame of type \(type)")
            return nil
        }
    }

    // MARK: Errors

    /// Ends the connection: GOAWAY is the last that is written.
    mutating func fail(_ error: HTTP2Error) {
        if case .failed = phase { return }
        phase = .failed(error)
        HTTP2FrameWriter.goAway(
            lastStream: lastPeerStream, error.code, debugData: Array(error.reason.utf8), into: &output)
    }

    /// Resets a stream for the peer's fault. Nothing is left to be told where it is closed already.
    mutating func failStream(_ stream: UInt32, _ error: HTTP2Error) throws(HTTP2Error) -> HTTP2Event? {
        try flood.countUseless(error.reason)
        HTTP2FrameWriter.reset(stream: stream, error.code, into: &output)
        guard discard(stream) else { return nil }
        remember(stream)
        return .failed(stream: stream, error)
    }

    func isOwn(_ stream: UInt32) -> Bool { (stream % 2 == 1) == (role == .client) }

    /// Whether a stream was never opened.
    func isIdle(_ stream: UInt32) -> Bool { isOwn(stream) ? stream >= nextStream : stream > lastPeerStream }

    @discardableResult
    mutating func close(_ stream: UInt32) -> HTTP2Stream? {
        guard let closed = streams.remove(stream) else { return nil }
        if isOwn(stream) { openStreams -= 1 }
        return closed
    }

    /// Closes a stream whose body nobody will take: what waits of it no longer counts for the connection's window.
    @discardableResult
    mutating func discard(_ stream: UInt32) -> Bool {
        guard let closed = close(stream) else { return false }
        consume(closed.receiving.waiting, of: nil)
        return true
    }

    mutating func remember(_ stream: UInt32) {
        if recentlyReset.count == Self.rememberedStreams { recentlyReset.removeFirst(Self.rememberedStreams / 2) }
        recentlyReset.append(stream)
    }

    /// A stream that has ended in both directions, as it should: nothing may come for it any more but what was on its
    /// way (RFC 9113 §5.1, "closed").
    mutating func endInOrder(_ stream: UInt32) {
        close(stream)
        flood.countEnd()
        if recentlyEnded.count == Self.rememberedStreams { recentlyEnded.removeFirst(Self.rememberedStreams / 2) }
        recentlyEnded.append(stream)
    }
}
