import LoadingKitHPACK
import LoadingKitHTTP2
import LoadingKitPrimitives
import TestSupport
import Testing

/// A client and a server back to back, with whatever bytes in between.
@Suite struct PairTests {
    /// Gives all that one side has to say to the other, cut at random.
    private func move(
        _ from: inout HTTP2ConnectionStateMachine, _ to: inout HTTP2ConnectionStateMachine,
        _ transcript: inout Transcript, _ random: inout SeededGenerator
    ) {
        let bytes = from.output
        from.output.removeAll()
        transcript.feed(bytes, to: &to, pieces: Int.random(in: 1...3000, using: &random))
    }

    @Test(arguments: 0..<20) func conversations(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var settings = HTTP2Settings()
        settings.initialWindowSize = [1000, 65_535, 1 << 20][seed % 3]
        var client = HTTP2ConnectionStateMachine(.client, settings: settings, connectionWindow: 100_000)
        var server = HTTP2ConnectionStateMachine(.server, settings: settings, connectionWindow: 70_000)
        var (atClient, atServer) = (Transcript(), Transcript())
        move(&server, &client, &atClient, &random)
        move(&client, &server, &atServer, &random)
        var expectedAtServer: [String] = []
        var expectedAtClient: [String] = []
        for index in 0..<10 {
            let stream = UInt32(index * 2 + 1)
            let body = String(repeating: "\(index)", count: Int.random(in: 0...200_000, using: &random))
            var fields = HTTPFields()
            for number in 0..<Int.random(in: 0...20, using: &random) {
                fields.append(name: "field-\(number)", value: String(repeating: "v", count: number * 30))
            }
            let pseudo = HPACKPseudoFields.request(method: "POST", scheme: "https", authority: "h", path: "/\(index)")
            #expect(try client.sendRequest(pseudo, fields, endStream: body.isEmpty) == stream)
            expectedAtServer.append("\(stream): POST /\(index)\(body.isEmpty ? " end" : "")")
            if !body.isEmpty { expectedAtServer.append("\(stream): data \(body) end") }
            try send(body, stream, &client, &server, &atServer, &atClient, &random)
            try server.sendResponse(stream, status: 200, fields, endStream: body.isEmpty)
            expectedAtClient.append("\(stream): 200 \(fields.count)\(body.isEmpty ? " end" : "")")
            if !body.isEmpty { expectedAtClient.append("\(stream): data \(body) end") }
            try send(body, stream, &server, &client, &atClient, &atServer, &random)
        }
        #expect(atServer.error == nil && atClient.error == nil)
        #expect(
            atServer.events.count == expectedAtServer.count && zip(atServer.events, expectedAtServer).allSatisfy(==))
        #expect(
            atClient.events.count == expectedAtClient.count && zip(atClient.events, expectedAtClient).allSatisfy(==))
        #expect(client.openStreams == 0 && !server.hasStreams)
    }

    private func send(
        _ body: String, _ stream: UInt32, _ from: inout HTTP2ConnectionStateMachine,
        _ to: inout HTTP2ConnectionStateMachine, _ atTo: inout Transcript, _ atFrom: inout Transcript,
        _ random: inout SeededGenerator
    ) throws {
        var rest = Array(body.utf8)[...]
        var turns = 0
        while !rest.isEmpty, turns < 10_000 {
            turns += 1
            let count = min(from.sendableBytes(stream), rest.count, Int.random(in: 1...20_000, using: &random))
            if count > 0 {
                let piece = Array(rest.prefix(count))
                rest = rest.dropFirst(count)
                try piece.withUnsafeBytes { try from.sendData(stream, $0, endStream: rest.isEmpty) }
            }
            move(&from, &to, &atTo, &random)
            move(&to, &from, &atFrom, &random)
        }
        move(&from, &to, &atTo, &random)
        move(&to, &from, &atFrom, &random)
    }

    /// Whatever comes, in whatever order: events, or one typed error; memory is bounded.
    @Test(arguments: 0..<8) func randomFrames(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<150 {
            let role: HTTP2ConnectionStateMachine.Role = Bool.random(using: &random) ? .client : .server
            var machine = HTTP2ConnectionStateMachine(role)
            var bytes = role == .server ? Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) : []
            if role == .client {
                let pseudo = HPACKPseudoFields.request(method: "GET", scheme: "https", authority: "h", path: "/")
                for _ in 0..<3 { _ = try machine.sendRequest(pseudo, HTTPFields(), endStream: false) }
            }
            if Int.random(in: 0..<10, using: &random) > 0 { bytes += Frames.settings() }
            for _ in 0..<Int.random(in: 1...60, using: &random) { bytes += frame(&random) }
            let split = Int.random(in: 1...bytes.count, using: &random)
            var (whole, cut) = (machine, machine)
            var (first, second) = (Transcript(), Transcript())
            first.feed(bytes, to: &whole)
            second.feed(bytes, to: &cut, pieces: split)
            #expect(first == second)
            #expect(whole.output.count < 100_000)
        }
    }

    private func frame(_ random: inout SeededGenerator) -> [UInt8] {
        let type = UInt8.random(in: 0...10, using: &random)
        let streams: [UInt32] = [0, 1, 1, 2, 3, 5, 7, 0x7FFF_FFFF]
        let stream = streams.randomElement(using: &random) ?? 0
        var payload: [UInt8]
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            payload = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
        case 1: payload = Frames.block([(":status", "200"), ("a", "b")])
        case 2: payload = Frames.block([(":method", "GET"), (":scheme", "https"), (":path", "/")])
        default: payload = [UInt8](repeating: 0, count: [4, 5, 6, 8, 12].randomElement(using: &random) ?? 0)
        }
        if Int.random(in: 0..<5, using: &random) == 0, !payload.isEmpty { payload.removeLast() }
        return Frames.raw(type, flags: UInt8.random(in: 0...255, using: &random) & 0x2D, stream: stream, payload)
    }
}
