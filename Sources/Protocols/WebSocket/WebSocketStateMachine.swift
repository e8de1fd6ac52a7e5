/// One side of a WebSocket connection after its handshake (RFC 6455), without the connection: bytes in, events out;
/// messages in, bytes out.
///
/// What is received goes through ``receive(_:_:)``, again and again until it gives nil. Answers that the protocol wants
/// (pongs, and close frames) wait inside until ``drainControlBytes(into:)`` takes them, or any `send` method, which puts
/// them before its own bytes.
///
///     open ──sendClose──▶ closing ──close frame──▶ closed
///       └──close frame, which is answered──────────┘
///
/// What breaks a rule leads to `failed` from `open` and `closing`, with a close frame of that reason.
public struct WebSocketStateMachine: ~Copyable {
    enum State {
        case open
        /// This side has sent a close frame, and awaits the other's.
        case closing
        /// Both have sent theirs.
        case closed
        case failed(WebSocketError)
    }

    enum Reading {
        case header
        /// So many bytes of the payload are still to come.
        case payload(WebSocketFrameHeader, missing: Int)
    }

    /// The message that is coming in.
    struct Incoming {
        let kind: WebSocketMessageKind
        let isCompressed: Bool
        var text = UTF8Validator()
        /// What came of it before it was decompressed, in bytes.
        var received = 0
        var emptyFrames = 0
    }

    /// So many bytes of answers to pings wait at most, where the other side pings and does not read.
    private static let mostPongBytes = 16 * 1024

    /// Which side this is.
    public let role: WebSocketRole
    /// What the other side may do. A change concerns what is received from then on.
    public var limits: WebSocketLimits

    var state = State.open
    var reading = Reading.header
    /// What has come of a frame's header.
    var partialHeader: [UInt8] = []
    var incoming: Incoming?
    var payload = WebSocketPayload()
    var controlPayload: [UInt8] = []
    let inflater: MessageInflater?
    let deflater: MessageDeflater?
    private var keys = MaskKeys()
    /// Answers to pings that wait to be sent, in order, up to ``mostPongBytes``.
    private var pongs: [UInt8] = []
    /// The newest ping that came when there were as many: only the newest needs an answer (§5.5.3).
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

    /// Whether both sides have sent a close frame, or one has broken the rules: nothing more is received.
    public var isOver: Bool {
        switch state {
        case .open, .closing: false
        case .closed, .failed: true
        }
    }

    // MARK: Sending

    /// Whether there are answers to send.
    public var hasControlBytes: Bool { !pongs.isEmpty || closeFrame != nil }

    /// Appends the answers that wait, which then wait no longer.
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

    /// Answers the ping that has just been received.
    mutating func answerPing() {
        guard isOpen else { return }
        guard pongs.count < Self.mostPongBytes else { return unanswered = controlPayload }
        // Moved out, so that it can grow while this struct changes.
        var waiting: [UInt8] = []
        swap(&waiting, &pongs)
        appendFrame(.pong, controlPayload, to: &waiting)
        swap(&waiting, &pongs)
    }

    mutating func dropPongs() {
        pongs.removeAll(keepingCapacity: true)
        unanswered = nil
    }

    /// Appends a whole message in one frame, compressed where that was agreed on and saves something.
    ///
    /// Text must be UTF-8, which is not looked at here.
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

    /// Appends what begins a message that is not compressed, whose `count` bytes the caller sends right after it: masked,
    /// where there is a mask.
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
    /// - Parameter payload: at most 125 bytes, which the answer brings back.
    public mutating func sendPing(_ payload: [UInt8] = [], to output: inout [UInt8]) throws(WebSocketError) {
        try checkOpen()
        guard payload.count <= 125 else { throw WebSocketError(.controlPayloadTooLong) }
        drainControlBytes(into: &output)
        appendFrame(.ping, payload, to: &output)
    }

    /// Appends a close frame, after which nothing is sent; once.
    ///
    /// - Parameters:
    ///   - code: none is sent in place of one that may not be.
    ///   - reason: for people; cut to 123 bytes.
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
            for character in reason where payload.count + character.utf8.count <= 125 {
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

/// Which side of a WebSocket connection this is. A client masks its frames, a server does not (RFC 6455 §5.1).
public enum WebSocketRole: Sendable, Hashable {
    case client
    case server
}

/// What the other side of a WebSocket connection may do.
public struct WebSocketLimits: Sendable, Hashable {
    /// Bytes of a message, decompressed and put together.
    public var messageBytes: Int
    /// Frames of a message that add nothing to it.
    public var emptyFrames: Int

    /// The default limits: a message of 1 MiB, of which 1,024 frames may be empty.
    public init(messageBytes: Int = 1 << 20, emptyFrames: Int = 1024) {
        self.messageBytes = messageBytes
        self.emptyFrames = emptyFrames
    }
}
