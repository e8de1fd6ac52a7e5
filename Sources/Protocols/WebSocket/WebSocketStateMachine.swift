/// One side of a WebSocket connection after its handshake (RFC 6455), without I/O: received bytes become events, and
/// messages become bytes to send.
///
/// Received bytes are passed to ``receive(_:_:)``, repeatedly until it returns nil. Answers that the protocol requires
/// (pongs, and close frames) wait inside until ``drainControlBytes(into:)`` or any `send` method takes them. A `send`
/// method puts them before its own bytes.
///
///     open ──sendClose──▶ closing ──close frame──▶ closed
///       └──close frame, which is answered──────────┘
///
/// A protocol violation leads from `open` and `closing` to `failed`, with a close frame that states the reason.
public struct WebSocketStateMachine: ~Copyable {
    enum State {
        case open
        /// This side has sent a close frame, and awaits the other side's.
        case closing
        /// Both sides have sent a close frame.
        case closed
        case failed(WebSocketError)
    }

    enum Reading {
        case header
        /// `missing` bytes of the payload have not arrived.
        case payload(WebSocketFrameHeader, missing: Int)
    }

    /// The message that is being received.
    struct Incoming {
        let kind: WebSocketMessageKind
        let isCompressed: Bool
        var text = UTF8Validator()
        /// The number of received bytes before decompression.
        var received = 0
        var emptyFrames = 0
    }

    /// The limit in bytes of waiting answers to pings, if the other side sends pings and does not read.
    private static let mostPongBytes = 16 * 1024

    /// The role of this side.
    public let role: WebSocketRole
    /// The limits for the other side. A change applies to messages received later.
    public var limits: WebSocketLimits

    var state = State.open
    var reading = Reading.header
    /// The received part of a frame's header.
    var partialHeader: [UInt8] = []
    var incoming: Incoming?
    var payload = WebSocketPayload()
    /// Whether all further messages are dropped.
    private(set) var dropsMessages = false
    var controlPayload: [UInt8] = []
    let inflater: MessageInflater?
    let deflater: MessageDeflater?
    private var keys = MaskKeys()
    /// Answers to pings that wait to be sent, in order, up to ``mostPongBytes``.
    private var pongs: [UInt8] = []
    /// The newest ping received after the limit was reached. Only the newest ping needs an answer (§5.5.3).
    private var unanswered: [UInt8]?
    /// A close frame that waits to be sent.
    var closeFrame: [UInt8]?

    /// Makes one side of a connection.
    public init(
        role: WebSocketRole, deflate: PermessageDeflate? = nil, limits: WebSocketLimits = WebSocketLimits()
    ) {
        self.role = role
        self.limits = limits
        let (own, other) = role == .client ? (deflate?.client, deflate?.server) : (deflate?.server, deflate?.client)
        deflater = own.flatMap(MessageDeflater.init)
        inflater = other.map(MessageInflater.init)
    }

    /// Whether messages may be sent.
    public var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Whether both sides have sent a close frame, or the protocol was violated. No more events follow.
    public var isOver: Bool {
        switch state {
        case .open, .closing: false
        case .closed, .failed: true
        }
    }

    // MARK: Receiving

    /// Drops all further messages. They are not decompressed, and their contents are not checked. The limits for them
    /// still apply, and control frames are handled as before.
    package mutating func dropMessages() {
        dropsMessages = true
        payload = WebSocketPayload()
    }

    // MARK: Sending

    /// Whether there are answers to send.
    public var hasControlBytes: Bool { !pongs.isEmpty || closeFrame != nil }

    /// Appends the waiting answers to `output`, and removes them here.
    public mutating func drainControlBytes(into output: inout [UInt8]) {
        if !pongs.isEmpty {
            if isOpen { output.append(contentsOf: pongs) }
            if isOpen, let unanswered { appendFrame(.pong, unanswered, to: &output) }
            dropPongs()
        }
        if let frame = closeFrame {
            closeFrame = nil
            output.append(contentsOf: frame)
        }
    }

    /// Answers the ping that was received.
    mutating func answerPing() {
        guard isOpen else { return }
        guard pongs.count < Self.mostPongBytes else { return unanswered = controlPayload }
        // The bytes are moved out, so that they can grow while this struct changes.
        var waiting: [UInt8] = []
        swap(&waiting, &pongs)
        appendFrame(.pong, controlPayload, to: &waiting)
        swap(&waiting, &pongs)
    }

    mutating func dropPongs() {
        pongs.removeAll(keepingCapacity: true)
        unanswered = nil
    }

    /// Appends a whole message in one frame. The message is compressed if this was negotiated and saves bytes.
    ///
    /// Text must be UTF-8; this is not checked here.
    public mutating func send(
        _ kind: WebSocketMessageKind, _ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]
    ) throws(WebSocketError) {
        try checkOpen()
        drainControlBytes(into: &output)
        if let compressed = deflater?.deflate(bytes) {
            compressed.withUnsafeBytes { appendFrame(kind.opcode, $0, isCompressed: true, to: &output) }
        } else {
            appendFrame(kind.opcode, bytes, to: &output)
        }
    }

    /// Whether ``send(_:_:to:)`` might compress messages of this size.
    public func compresses(_ count: Int) -> Bool { deflater != nil && count >= MessageDeflater.shortestMessage }

    /// Appends the header of an uncompressed message. The caller sends the `count` bytes directly after it, masked if a
    /// mask is returned.
    public mutating func sendHeader(
        _ kind: WebSocketMessageKind, count: Int, to output: inout [UInt8]
    ) throws(WebSocketError) -> WebSocketMask? {
        try checkOpen()
        drainControlBytes(into: &output)
        let mask = role == .client ? keys.next() : nil
        WebSocketFrameHeader(kind.opcode, length: count, mask: mask).append(to: &output)
        return mask
    }

    /// Appends a ping. Its answer is an event.
    /// - Parameter payload: at most 125 bytes, which the answer contains.
    public mutating func sendPing(_ payload: [UInt8] = [], to output: inout [UInt8]) throws(WebSocketError) {
        try checkOpen()
        guard payload.count <= 125 else { throw WebSocketError(.controlPayloadTooLong) }
        drainControlBytes(into: &output)
        appendFrame(.ping, payload, to: &output)
    }

    /// Appends a close frame. It may be called once, and no frames may be sent afterwards.
    ///
    /// - Parameters:
    ///   - code: the code; left out if it must not be sent.
    ///   - reason: text for people; truncated to 123 bytes.
    public mutating func sendClose(
        _ code: WebSocketCloseCode = .normalClosure, reason: String = "", to output: inout [UInt8]
    ) throws(WebSocketError) {
        try checkOpen()
        drainControlBytes(into: &output)
        state = .closing
        output.append(contentsOf: makeCloseFrame(code, reason))
    }

    private func checkOpen() throws(WebSocketError) {
        switch state {
        case .open: break
        case .closing, .closed: throw WebSocketError(.closing)
        case .failed(let error): throw error
        }
    }

    mutating func makeCloseFrame(_ code: WebSocketCloseCode, _ reason: String) -> [UInt8] {
        var payload: [UInt8] = []
        if code.maySend {
            payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xff)]
            for character in reason {
                guard payload.count + character.utf8.count <= 125 else { break }
                payload.append(contentsOf: character.utf8)
            }
        }
        var frame: [UInt8] = []
        appendFrame(.close, payload, to: &frame)
        return frame
    }

    private mutating func appendFrame(_ opcode: WebSocketOpcode, _ payload: [UInt8], to output: inout [UInt8]) {
        payload.withUnsafeBytes { appendFrame(opcode, $0, to: &output) }
    }

    private mutating func appendFrame(
        _ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, isCompressed: Bool = false,
        to output: inout [UInt8]
    ) {
        let mask = role == .client ? keys.next() : nil
        WebSocketFrameHeader(opcode, length: payload.count, isCompressed: isCompressed, mask: mask).append(to: &output)
        guard var mask else { return output.append(contentsOf: payload) }
        mask.append(payload, to: &output)
    }
}

/// The role of one side of a WebSocket connection. A client masks its frames; a server does not (RFC 6455 §5.1).
public enum WebSocketRole: Sendable, Hashable {
    case client
    case server
}

/// The limits for the other side of a WebSocket connection.
public struct WebSocketLimits: Sendable, Hashable {
    /// The size of a complete, decompressed message in bytes.
    public var messageBytes: Int
    /// The number of frames of a message that have no payload.
    public var emptyFrames: Int

    /// The default limits: a message of 1 MiB, with up to 1,024 empty frames.
    public init(messageBytes: Int = 1 << 20, emptyFrames: Int = 1024) {
        self.messageBytes = messageBytes
        self.emptyFrames = emptyFrames
    }
}
