import LoadingKitPrimitives
import LoadingKitWebSocket

enum WebSocketTargets {
    static let all = [FuzzTarget("websocket", receive), FuzzTarget("websocket-handshake", handshake)]

    private enum Result: Equatable {
        case text(String)
        case binary([UInt8])
        case ping([UInt8])
        case pong([UInt8])
        case close(UInt16, String)
        case failed(WebSocketError)

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

    /// Frames whose lengths are right (or, where a byte says so, the bytes as they are), in both roles.
    @Sendable private static func receive(_ input: inout FuzzInput) throws {
        let choices = input.byte()
        let cuts = input.cuts()
        let role = choices & 1 == 0 ? WebSocketRole.client : .server
        let bytes = choices & 2 == 0 ? frames(to: role, &input) : input.rest()
        var deflate: PermessageDeflate?
        if choices & 4 != 0 {
            var agreed = PermessageDeflate()
            agreed.client.takesContextOver = choices & 8 != 0
            agreed.server.takesContextOver = choices & 8 != 0
            deflate = agreed
        }
        let whole = results(role, deflate, [bytes])
        try requireEqual(whole, results(role, deflate, cuts.pieces(of: bytes)), "whole and in pieces")
        for case .binary(let message) in whole { try require(message.count <= 1 << 16, "the message is too long") }
        try sendAndReceive(whole, role, deflate)
    }

    private static func frames(to role: WebSocketRole, _ input: inout FuzzInput) -> [UInt8] {
        var bytes: [UInt8] = []
        while !input.isEmpty {
            let first = input.byte()
            let payload = input.take(input.flag() ? Int(input.byte()) * 4 : input.number(below: 126))
            bytes.append(first)
            let mask: UInt8 = role == .server ? 0x80 : 0
            if payload.count < 126 {
                bytes.append(UInt8(payload.count) | mask)
            } else {
                bytes += [126 | mask, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
            }
            if role == .server { bytes += [0, 0, 0, 0] }
            bytes += payload
        }
        return bytes
    }

    private static func results(
        _ role: WebSocketRole, _ deflate: PermessageDeflate?, _ pieces: [[UInt8]]
    ) -> [Result] {
        var machine = WebSocketStateMachine(
            role: role, deflate: deflate, limits: WebSocketLimits(messageBytes: 1 << 16, emptyFrames: 4))
        var results: [Result] = []
        do throws(WebSocketError) {
            for piece in pieces { try receive(&machine, piece, &results) }
            try machine.finish()
        } catch {
            results.append(.failed(error))
        }
        return results
    }

    private static func receive(
        _ machine: inout WebSocketStateMachine, _ piece: [UInt8], _ results: inout [Result]
    ) throws(WebSocketError) {
        try piece.withBytes { (bytes) throws(WebSocketError) in
            var position = 0
            while let event = try machine.receive(bytes, &position) { results.append(Result(event)) }
        }
    }

    /// The messages that were received are sent, and received on the other side.
    private static func sendAndReceive(
        _ received: [Result], _ role: WebSocketRole, _ deflate: PermessageDeflate?
    ) throws {
        var sender = WebSocketStateMachine(role: role == .client ? .server : .client, deflate: deflate)
        var output: [UInt8] = []
        var expected: [Result] = []
        for result in received {
            switch result {
            case .text(let text):
                try Array(text.utf8).withUnsafeBytes { try sender.send(.text, $0, to: &output) }
            case .binary(let bytes): try bytes.withUnsafeBytes { try sender.send(.binary, $0, to: &output) }
            case .ping(let payload): try sender.sendPing(payload, to: &output)
            case .pong, .close, .failed: continue
            }
            expected.append(result)
        }
        expected.append(.failed(WebSocketError(.closedEarly)))
        try requireEqual(results(role, deflate, [output]), expected, "received, and sent")
    }

    /// The extension's parameters, as a server and as a client read them.
    @Sendable private static func handshake(_ input: inout FuzzInput) throws {
        var fields = HTTPFields()
        fields.append(name: "Upgrade", value: "websocket")
        fields.append(name: "Connection", value: "upgrade")
        let values = input.text().split(separator: "\n").map(String.init)
        for value in values { fields.append(name: "Sec-WebSocket-Extensions", value: value) }
        if let first = values.first { fields.append(name: "Sec-WebSocket-Protocol", value: first) }
        if let agreed = PermessageDeflate(offers: values) {
            let again = PermessageDeflate(offers: [agreed.fieldValue])
            try require(again == agreed, "\(agreed.fieldValue) is read as \(String(describing: again))")
        }
        let handshake = WebSocketHandshake(subprotocols: ["a", "b"])
        do throws(WebSocketError) { _ = try handshake.agreement(fields) } catch {}
        do throws(WebSocketError) { _ = try handshake.agreement(upgrade: fields) } catch {}
    }
}
