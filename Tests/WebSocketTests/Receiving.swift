import LoadingKitWebSocket

/// The results of a codec, comparable, and readable in a failed test's output.
enum Received: Equatable, Sendable {
    case text(String)
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(UInt16, String)
    case failed(WebSocketError.Kind)

    init(_ event: WebSocketEvent) {
        switch event {
        case .text(let text): self = .text(text)
        case .binary(let payload): self = .binary(payload.withUnsafeBytes { Array($0) })
        case .ping(let payload): self = .ping(payload)
        case .pong(let payload): self = .pong(payload)
        case .close(let code, let reason): self = .close(code.rawValue, reason)
        }
    }
}

/// Feeds bytes to a new codec, cut as the test wants.
struct Feeder {
    var role = WebSocketRole.client
    var deflate: PermessageDeflate?
    var limits = WebSocketLimits()
    var dropsMessages = false

    /// Everything received from these pieces, and what the codec answers after each.
    func receive(_ pieces: [[UInt8]]) -> (events: [Received], answers: [UInt8]) {
        var codec = WebSocketStateMachine(role: role, deflate: deflate, limits: limits)
        if dropsMessages { codec.dropMessages() }
        var events: [Received] = []
        var answers: [UInt8] = []
        for piece in pieces {
            piece.withUnsafeBytes { bytes in
                var position = 0
                do throws(WebSocketError) {
                    while let event = try codec.receive(bytes, &position) { events.append(Received(event)) }
                } catch {
                    events.append(.failed(error.kind))
                }
            }
            codec.drainControlBytes(into: &answers)
            if case .failed? = events.last { break }
        }
        return (events, answers)
    }

    /// The same whole, byte by byte, and split at every offset; nil when the cut makes a difference.
    func receiveAnyhow(_ bytes: [UInt8]) -> [Received]? {
        let whole = receive([bytes]).events
        guard receive(bytes.map { [$0] }).events == whole else { return nil }
        for offset in 1..<max(1, min(bytes.count, 300)) {
            guard receive([Array(bytes[..<offset]), Array(bytes[offset...])]).events == whole else { return nil }
        }
        return whole
    }
}

/// One frame, as it is on the wire.
func frame(
    _ opcode: WebSocketOpcode, _ payload: [UInt8] = [], isFinal: Bool = true, isCompressed: Bool = false,
    isMasked: Bool = false
) -> [UInt8] {
    var mask = isMasked ? WebSocketMask(0x37, 0xfa, 0x21, 0x3d) : nil
    var bytes: [UInt8] = []
    WebSocketFrameHeader(
        opcode, length: payload.count, isFinal: isFinal, isCompressed: isCompressed, mask: mask
    ).append(to: &bytes)
    if mask == nil { return bytes + payload }
    payload.withUnsafeBytes { mask?.append($0, to: &bytes) }
    return bytes
}

func frame(_ opcode: WebSocketOpcode, _ text: String, isFinal: Bool = true, isMasked: Bool = false) -> [UInt8] {
    frame(opcode, Array(text.utf8), isFinal: isFinal, isMasked: isMasked)
}
