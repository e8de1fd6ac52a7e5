/// One side of an HTTP/2 connection (RFC 9113), without I/O: received bytes become events, and calls become bytes to
/// send.
///
/// Received bytes are passed to ``receive(_:_:)``, repeatedly until it returns nil. Answers that the protocol requires
/// (acknowledgements, window updates, resets, and GOAWAY after an error) wait inside until ``drainControlBytes(into:)``
/// or any `send` method takes them. A `send` method puts them before its own bytes.
public struct HTTP2ConnectionStateMachine: Sendable {
    /// The state of the connection. The peer opens streams only in `active`; a client may send requests earlier (§3.4).
    enum State {
        /// A server that waits for the client's preface. `matched` is the number of preface bytes received.
        case awaitingPreface(matched: Int)
        /// The peer's first frame, which must be SETTINGS, has not arrived.
        case awaitingSettings
        case active
        /// After a connection error. No more frames are received or sent.
        case failed(HTTP2Error)
    }

    /// The client's connection preface (§3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// The role of this side.
    public let role: HTTP2Role
    /// The limits for the peer.
    public let limits: HTTP2Limits
    /// The settings that the peer has announced in its SETTINGS frames.
    public internal(set) var peerSettings = HTTP2Settings()
    /// The settings of this side that the peer has acknowledged.
    public internal(set) var acknowledgedSettings = HTTP2Settings()
    /// The settings that this side has announced, whether or not they are acknowledged.
    public internal(set) var localSettings: HTTP2Settings

    var state: State
    var frames: HTTP2FrameDecoder
    var headers: HeaderCoding
    var streams = StreamTable(vacant: Stream())
    var resets: ResetMemory
    var flood: FloodGuard
    /// The fields of the last request. If a caller sends the same fields in the same memory again, they need no second
    /// check. The memory does not change while this property refers to it.
    var checkedFields = HTTPFields()
    /// Answers that wait to be sent.
    var control: [UInt8] = []
    /// The stream that the last event has closed. The next event reports it.
    var justClosed: HTTP2StreamID?
    /// Directly after an event, the number of bytes of its frame, or of its piece of DATA; 0 for `streamClosed`.
    package internal(set) var eventBytes = 0
    /// The number of received bytes of a frame, or of a piece of DATA, that is not complete.
    package internal(set) var pendingBytes = 0

    var sendWindow = SendWindow(65535)
    var receiveWindow: ReceiveWindow
    /// The number of PINGs that this side has sent and the peer has not answered.
    var unansweredPings = 0
    /// Whether the caller found the connection's window empty.
    var isBlocked = false

    /// The next number of this side's streams; larger than 2³¹ - 1 if no numbers are left.
    var nextStream: UInt32
    /// The highest number of the peer's streams.
    var highestPeerStream = HTTP2StreamID.connection
    /// The last stream named in this side's GOAWAY, and in the peer's; nil before.
    var goAwaySent: HTTP2StreamID?
    var goAwayReceived: HTTP2StreamID?
    /// The settings that were sent and are not acknowledged, the oldest first.
    var unacknowledged: [HTTP2Settings] = []

    /// Makes one side of a connection.
    ///
    /// - Parameters:
    ///   - role: The role of this side.
    ///   - settings: The settings to send to the peer. `enablePush` is always false for a client, and never sent by a
    ///     server.
    ///   - connectionWindow: The number of body bytes that the peer may send before they are consumed, over all
    ///     streams; at least 65,535 at the start, whatever the setting (§6.9.2).
    ///   - limits: The limits for the peer.
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

    /// Whether a connection error has ended the connection. Its GOAWAY is the last frame.
    var isFailed: Bool {
        if case .failed = state { true } else { false }
    }

    /// The streams that are open or half closed, in order of their numbers.
    public var openStreams: [HTTP2StreamID] { streams.ids }

    /// The number of streams that are open or half closed.
    public var openStreamCount: Int { streams.count }

    /// Whether a stream is open or half closed.
    public func isOpen(_ stream: HTTP2StreamID) -> Bool { streams.find(stream) != nil }

    /// Whether the peer may send more on a stream.
    public func isReceiving(on stream: HTTP2StreamID) -> Bool {
        streams.find(stream).map { streams[$0].state.receiving != nil } ?? false
    }

    /// The stream of the header fields of which only a part has arrived.
    package var openHead: HTTP2StreamID? { frames.openHead }

    /// Whether there are answers to send.
    public var hasControlBytes: Bool { !control.isEmpty }

    /// Appends the waiting answers to `output`, and removes them here.
    ///
    /// Call this method when the peer takes bytes, not before. If the peer does not read, waiting answers are limited
    /// here by ``HTTP2Limits/pendingControlBytes``; answers in `output` are not limited.
    @inline(__always)
    public mutating func drainControlBytes(into output: inout [UInt8]) {
        if control.isEmpty { return }
        output.append(contentsOf: control)
        control.removeAll(keepingCapacity: true)
    }

    /// The settings as the role allows them, with values that a frame may contain.
    static func allowed(_ settings: HTTP2Settings, _ role: HTTP2Role) -> HTTP2Settings {
        var settings = settings
        // Push is refused. A server may send this parameter only with 0 (§6.5.2), and need not send it.
        settings.enablePush = role == .server
        settings.initialWindowSize = min(settings.initialWindowSize, UInt32(SendWindow.largest))
        settings.maxFrameSize = min(max(settings.maxFrameSize, 16384), 0xff_ffff)
        return settings
    }

    /// Reports to the flood limits that `seconds` have passed, if the owner has a clock. A connection that only answers
    /// a PING from time to time is not a flood.
    public mutating func timeDidPass(seconds: Int) { flood.refill(min(max(0, seconds), limits.controlCredit)) }
}

/// The events that received bytes cause.
public enum HTTP2Event: Sendable, Equatable {
    /// The peer's first settings have arrived, so it supports HTTP/2.
    case ready(HTTP2Settings)
    /// The peer has changed its settings. Windows may have opened: try each waiting stream again.
    case settingsChanged(HTTP2Settings)
    /// The peer has acknowledged this side's oldest unacknowledged settings.
    case settingsAcknowledged
    /// Header fields. On a server, a request's header fields open the stream.
    case headers(stream: HTTP2StreamID, HTTP2Head, endStream: Bool)
    /// Bytes of a body, as a range of the input. `flowControlled` bytes must be returned with
    /// ``HTTP2ConnectionStateMachine/didConsume(_:on:)`` after they were consumed, whatever the stream's state. A
    /// body in a response to HEAD is dropped: its range is empty, and `flowControlled` 0.
    case data(stream: HTTP2StreamID, Range<Int>, flowControlled: Int, endStream: Bool)
    /// Both sides of the stream have ended. Follows the event with the peer's `endStream`.
    case streamClosed(stream: HTTP2StreamID)
    /// The peer has reset the stream. With REFUSED_STREAM the request was not processed (§8.7). With NO_ERROR after a
    /// complete response, the peer does not need the rest of the request (§8.1).
    case streamReset(stream: HTTP2StreamID, HTTP2ErrorCode)
    /// The peer violated the protocol on this stream, which was reset.
    case streamFailed(stream: HTTP2StreamID, HTTP2Error)
    /// The peer accepts no further streams. `unprocessed` are this side's streams that were not processed. They have
    /// ended, and their requests may be sent again on another connection (§6.8). The other streams continue.
    case goAway(
        lastStream: HTTP2StreamID, HTTP2ErrorCode, debugData: [UInt8], unprocessed: [HTTP2StreamID])
    /// The peer has answered a PING.
    case pingAcknowledged(UInt64)
    /// There may be room to send on this stream, which had none at the last attempt. Stream 0 stands for any stream.
    case windowOpened(stream: HTTP2StreamID)
}

/// The role of a state machine on its connection.
public enum HTTP2Role: Sendable, Hashable {
    /// Sends requests.
    case client
    /// Responds to requests.
    case server
}
