/// One side of an HTTP/2 connection (RFC 9113), without the connection: bytes in, events out; calls in, bytes out.
///
/// What is received goes through ``receive(_:_:)``, again and again until it gives nil. Answers that the protocol wants for
/// (acknowledgements, window updates, resets, and GOAWAY after an error) wait inside until ``drainControlBytes(into:)``
/// takes them, or any `send` method, which puts them before its own bytes.
public struct HTTP2ConnectionStateMachine: Sendable {
    /// Where the connection stands. Streams are opened in `active` alone; a client may send requests before that (§3.4).
    enum State {
        /// A server that waits for the client's preface, of which so many bytes have come.
        case awaitingPreface(matched: Int)
        /// The peer's first frame, which has to be SETTINGS, has not come.
        case awaitingSettings
        case active
        /// After an error of the connection; nothing more is received or sent.
        case failed(HTTP2Error)
    }

    /// What a client begins with (§3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Which side this is.
    public let role: HTTP2Role
    /// What the peer may do.
    public let limits: HTTP2Limits
    /// What the peer has announced in its SETTINGS frames.
    public internal(set) var peerSettings = HTTP2Settings()
    /// What this side has announced in the SETTINGS frames that the peer has acknowledged.
    public internal(set) var acknowledgedSettings = HTTP2Settings()
    /// What this side has announced, acknowledged or not.
    public internal(set) var localSettings: HTTP2Settings

    var state: State
    var frames: HTTP2FrameDecoder
    var headers: HeaderCoding
    var streams = StreamTable(vacant: Stream())
    var resets: ResetMemory
    var flood: FloodGuard
    /// The fields of the last request: a caller that sends the same again, in the same memory, need not have them checked
    /// again. That memory does not change while this refers to it.
    var checkedFields = HTTPFields()
    /// Answers that wait to be sent.
    var control: [UInt8] = []
    /// The stream that the event given last has closed, which the next one reports.
    var justClosed: HTTP2StreamID?

    var sendWindow = SendWindow(65535)
    var receiveWindow: ReceiveWindow
    /// PINGs that this side has sent and the peer has not answered.
    var unansweredPings = 0
    /// Whether the caller found the connection's window empty.
    var isBlocked = false

    /// The next number of this side's streams, beyond 2³¹ - 1 when there are none left.
    var nextStream: UInt32
    /// The highest number of the peer's streams.
    var highestPeerStream = HTTP2StreamID.connection
    /// The last stream that this side's GOAWAY named, and that the peer's did; nil before.
    var goAwaySent: HTTP2StreamID?
    var goAwayReceived: HTTP2StreamID?
    /// SETTINGS frames that were sent and are not acknowledged, oldest first.
    var unacknowledged: [HTTP2Settings] = []

    /// Makes one side of a connection.
    ///
    /// - Parameters:
    ///   - role: Which side.
    ///   - settings: What to send to the peer. `enablePush` is always false for a client, and never sent by a server.
    ///   - connectionWindow: Bytes of bodies that the peer may send before they are consumed, over all streams; at least
    ///     65,535 at the start, whatever the setting (§6.9.2).
    ///   - limits: What the peer may do.
    public init(
        role: HTTP2Role, settings: HTTP2Settings = HTTP2Settings(), connectionWindow: Int = 65535,
        limits: HTTP2Limits = HTTP2Limits()
    ) {
        self.role = role
        self.limits = limits
        localSettings = Self.allowed(settings, role)
        state = role == .server ? .awaitingPreface(matched: 0) : .awaitingSettings
        frames = HTTP2FrameDecoder(limits: limits)
        headers = HeaderCoding(limits: limits)
        resets = ResetMemory(capacity: limits.rememberedResets)
        flood = FloodGuard(limit: limits.controlCredit)
        receiveWindow = ReceiveWindow(
            available: 65535, target: min(max(65535, connectionWindow), SendWindow.largest))
        nextStream = role == .client ? 1 : 2
    }

    /// The streams that are open or half closed, in order of their numbers.
    public var openStreams: [HTTP2StreamID] { streams.ids }

    /// How many streams are open or half closed.
    public var openStreamCount: Int { streams.count }

    /// Whether a stream is open or half closed.
    public func isOpen(_ stream: HTTP2StreamID) -> Bool { streams.find(stream) != nil }

    /// Whether the peer may send more on a stream.
    public func isReceiving(on stream: HTTP2StreamID) -> Bool {
        streams.find(stream).map { streams[$0].state.receiving != nil } ?? false
    }

    /// Whether there are answers to send.
    public var hasControlBytes: Bool { !control.isEmpty }

    /// Appends the answers that wait, which then wait no longer.
    ///
    /// To be called when the peer takes bytes, not before: answers that pile up here because it does not read are
    /// bounded by ``HTTP2Limits/pendingControlBytes``, those in `output` are not.
    @inline(__always)
    public mutating func drainControlBytes(into output: inout [UInt8]) {
        if control.isEmpty { return }
        output.append(contentsOf: control)
        control.removeAll(keepingCapacity: true)
    }

    /// Settings as the role allows them, with values that a frame may carry.
    static func allowed(_ settings: HTTP2Settings, _ role: HTTP2Role) -> HTTP2Settings {
        var settings = settings
        // Push is refused; a server may not send the parameter but with 0 (§6.5.2), and need not.
        settings.enablePush = role == .server
        settings.initialWindowSize = min(settings.initialWindowSize, UInt32(SendWindow.largest))
        settings.maxFrameSize = min(max(settings.maxFrameSize, 16384), 0xff_ffff)
        return settings
    }

    /// Lets the flood limits know that `seconds` have passed, where the owner has a clock: a connection that does nothing
    /// but answer a PING now and then is no flood.
    public mutating func timeDidPass(seconds: Int) { flood.refill(min(max(0, seconds), limits.controlCredit)) }
}

/// What bytes received mean to the owner of a connection.
public enum HTTP2Event: Sendable, Equatable {
    /// The peer's first settings have come: it speaks HTTP/2.
    case ready(HTTP2Settings)
    /// The peer has changed its settings. Windows may have opened: try again with each stream that waits.
    case settingsChanged(HTTP2Settings)
    /// The peer has taken over the settings that this side sent last.
    case settingsAcknowledged
    /// Header fields; in a server role those of a request open the stream.
    case headers(stream: HTTP2StreamID, HTTP2Head, endStream: Bool)
    /// Bytes of a body, as a range of the input. `flowControlled` bytes have to be given back with
    /// ``HTTP2ConnectionStateMachine/didConsume(_:on:)`` when they have been used, whatever becomes of the stream.
    case data(stream: HTTP2StreamID, Range<Int>, flowControlled: Int, endStream: Bool)
    /// Both sides of the stream have ended; follows the event with the peer's `endStream`.
    case streamClosed(stream: HTTP2StreamID)
    /// The peer has reset the stream. With REFUSED_STREAM the request was not processed (§8.7); with NO_ERROR after a
    /// whole response the rest of the request is not wanted (§8.1).
    case streamReset(stream: HTTP2StreamID, HTTP2ErrorCode)
    /// The peer broke a rule on that stream, which was reset.
    case streamFailed(stream: HTTP2StreamID, HTTP2Error)
    /// The peer takes no further stream. Of this side's, `unprocessed` were not processed, have ended, and may be sent
    /// again elsewhere (§6.8); the others go on.
    case goAway(
        lastStream: HTTP2StreamID, HTTP2ErrorCode, debugData: [UInt8], unprocessed: [HTTP2StreamID])
    /// The peer has answered a PING.
    case pingAcknowledged(UInt64)
    /// There may be room to send on that stream, which had none at the last attempt; on stream 0: on any stream.
    case windowOpened(stream: HTTP2StreamID)
}

/// Which side of a connection a state machine plays.
public enum HTTP2Role: Sendable, Hashable {
    /// Sends requests.
    case client
    /// Answers them.
    case server
}
