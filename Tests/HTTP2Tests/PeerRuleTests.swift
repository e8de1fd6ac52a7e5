import LoadingKitHTTP2
import LoadingKitPrimitives
import Testing

/// Each rule that a server can break, and what it ends: the stream, or the connection.
@Suite struct PeerRuleTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var bytes: [UInt8]
        var events: [String] = []
        var error: HTTP2ErrorCode?

        init(_ name: String, _ bytes: [UInt8], _ events: [String] = [], error: HTTP2ErrorCode? = nil) {
            testDescription = name
            self.bytes = bytes
            self.events = events
            self.error = error
        }
    }

    private static let ok: (String, String) = (":status", "200")
    private static let head = Frames.headers(1, [ok])

    private static func failed(_ name: String, _ fields: [(String, String)], end: Bool = true) -> Case {
        Case(name, Frames.headers(1, fields, end: end), ["1: failed PROTOCOL_ERROR"])
    }

    /// Stream 1 is open and half-closed on the client's side.
    private static let cases: [Case] = [
        Case("a response", head + Frames.data(1, "abc", end: true), ["1: 200 0", "1: data abc end"]),
        Case("no body", Frames.headers(1, [ok], end: true), ["1: 200 0 end"]),
        Case(
            "interim, body, trailers",
            Frames.headers(1, [(":status", "103"), ("link", "x")]) + head + Frames.data(1, "a")
                + Frames.headers(1, [("x", "y")], end: true), ["1: 103 1", "1: 200 0", "1: data a", "1: trailers 1"]),
        // Malformed messages (RFC 9113 §8.1.1).
        failed("uppercase in a name", [ok, ("Upper", "x")]), failed("an empty name", [ok, ("", "x")]),
        failed("connection", [ok, ("connection", "close")]), failed("keep-alive", [ok, ("keep-alive", "1")]),
        failed("transfer-encoding", [ok, ("transfer-encoding", "chunked")]), failed("upgrade", [ok, ("upgrade", "x")]),
        failed("no :status", [("a", "b")]), failed("two :status", [ok, ok]),
        failed("status of two digits", [(":status", "20")]),
        failed(":status after a field", [("a", "b"), ok]), failed("an unknown pseudo-field", [ok, (":x", "y")]),
        failed("a request's pseudo-field", [ok, (":path", "/")]), failed("NUL in a value", [ok, ("a", "b\0c")]),
        failed("line feed in a value", [ok, ("a", "b\nc")]), failed("101", [(":status", "101")], end: false),
        failed("an interim response that ends", [(":status", "100")]),
        failed("two lengths", [ok, ("content-length", "1"), ("content-length", "2")], end: false),
        failed("a length that is none", [ok, ("content-length", "-1")], end: false),
        failed("a length and no body", [ok, ("content-length", "1")]),
        Case(
            "more than the length", Frames.headers(1, [ok, ("content-length", "2")]) + Frames.data(1, "abc"),
            ["1: 200 1", "1: failed PROTOCOL_ERROR"]),
        Case(
            "less than the length",
            Frames.headers(1, [ok, ("content-length", "4")]) + Frames.data(1, "abc", end: true),
            ["1: 200 1", "1: failed PROTOCOL_ERROR"]),
        Case("a body before the head", Frames.data(1, "abc"), ["1: failed PROTOCOL_ERROR"]),
        Case(
            "trailers that do not end", head + Frames.headers(1, [("a", "b")]),
            ["1: 200 0", "1: failed PROTOCOL_ERROR"]),
        Case(
            "a pseudo-field in trailers", head + Frames.headers(1, [ok], end: true),
            ["1: 200 0", "1: failed PROTOCOL_ERROR"]),
        Case(
            "an endless row of interim responses",
            (0..<40).flatMap { _ in Frames.headers(1, [(":status", "103")]) },
            (0..<32).map { _ in "1: 103 0" } + ["1: failed ENHANCE_YOUR_CALM"]),
        // Streams.
        Case("a reset", Frames.raw(3, stream: 1, Frames.number(7)), ["1: reset REFUSED_STREAM"]),
        Case("HEADERS on a stream not opened", Frames.headers(3, [ok]), error: .protocolError),
        Case("DATA on a stream not opened", Frames.data(5, "x"), error: .protocolError),
        Case("RST_STREAM on a stream not opened", Frames.raw(3, stream: 3, Frames.number(0)), error: .protocolError),
        Case("WINDOW_UPDATE on a stream not opened", Frames.raw(8, stream: 3, Frames.number(9)), error: .protocolError),
        Case("HEADERS on a server's stream", Frames.headers(2, [ok]), error: .protocolError),
        Case(
            "DATA after the end", Frames.headers(1, [ok], end: true) + Frames.data(1, "x"), ["1: 200 0 end"],
            error: .streamClosed),
        Case(
            "WINDOW_UPDATE after the end",
            Frames.headers(1, [ok], end: true) + Frames.raw(8, stream: 1, Frames.number(9)), ["1: 200 0 end"]),
        // The connection.
        Case(
            "a push", Frames.raw(5, flags: 4, stream: 1, Frames.number(2) + block([ok])), error: .protocolError),
        Case(
            "a block that is no HPACK", Frames.raw(1, flags: 5, stream: 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            error: .compressionError),
        Case("an index that is not there", Frames.raw(1, flags: 5, stream: 1, [0xFE]), error: .compressionError),
        Case("PING that is too short", Frames.raw(6, [1]), error: .frameSizeError),
        Case("PING on a stream", Frames.raw(6, stream: 1, [UInt8](repeating: 0, count: 8)), error: .protocolError),
        Case(
            "a frame that is too long", Frames.raw(0, stream: 1, [UInt8](repeating: 0, count: 16_385)),
            error: .frameSizeError),
        Case("CONTINUATION without HEADERS", Frames.raw(9, flags: 4, stream: 1), error: .protocolError),
        Case(
            "another frame in a block",
            Frames.raw(1, stream: 1, block([ok])) + Frames.raw(6, [UInt8](repeating: 0, count: 8)),
            error: .protocolError),
        Case("the connection's window opened by nothing", Frames.raw(8, Frames.number(0)), error: .protocolError),
        Case(
            "the connection's window opened too far", Frames.raw(8, Frames.number(0x7FFF_FFFF)),
            error: .flowControlError),
        Case(
            "a stream's window opened by nothing", Frames.raw(8, stream: 1, Frames.number(0)),
            ["1: failed PROTOCOL_ERROR"]),
        Case(
            "a stream's window opened too far", Frames.raw(8, stream: 1, Frames.number(0x7FFF_FFFF)),
            ["1: failed FLOW_CONTROL_ERROR"]),
        Case(
            "an initial window that is too large", Frames.settings([HTTP2Setting(.initialWindowSize, 0x8000_0000)]),
            error: .flowControlError),
        Case(
            "a largest frame that is too small", Frames.settings([HTTP2Setting(.maxFrameSize, 16_383)]),
            error: .protocolError),
        Case("ENABLE_PUSH of a server", Frames.settings([HTTP2Setting(.enablePush, 1)]), error: .protocolError),
        Case("ENABLE_PUSH of 2", Frames.settings([HTTP2Setting(.enablePush, 2)]), error: .protocolError),
        Case(
            "an unknown setting and frame",
            Frames.settings([HTTP2Setting(.init(rawValue: 0x99), 7)])
                + Frames.raw(0x77, flags: 0xFF, stream: 9, [1, 2])),
        Case("PRIORITY", Frames.raw(2, stream: 1, Frames.number(0) + [9])),
        Case("GOAWAY", Frames.raw(7, Frames.number(0) + Frames.number(0)), ["goaway 0 NO_ERROR"]),
        // Floods.
        Case(
            "a flood of PINGs", (0..<1200).flatMap { _ in Frames.raw(6, [UInt8](repeating: 0, count: 8)) },
            error: .enhanceYourCalm),
        Case("a flood of SETTINGS", (0..<1200).flatMap { _ in Frames.settings() }, error: .enhanceYourCalm),
        Case(
            "a flood of empty DATA", head + (0..<1200).flatMap { _ in Frames.data(1, "") }, ["1: 200 0"],
            error: .enhanceYourCalm),
        Case(
            "a flood of tiny windows", (0..<1200).flatMap { _ in Frames.raw(8, stream: 1, Frames.number(1)) },
            error: .enhanceYourCalm),
        Case(
            "a flood of PRIORITY", (0..<1200).flatMap { _ in Frames.raw(2, stream: 1, Frames.number(0) + [9]) },
            error: .enhanceYourCalm),
        Case(
            "a block that does not end",
            Frames.raw(1, stream: 1) + (0..<100).flatMap { _ in Frames.raw(9, stream: 1, [0]) }, error: .enhanceYourCalm
        ),
    ]

    private func client() throws -> HTTP2ConnectionStateMachine {
        var client = HTTP2ConnectionStateMachine(role: .client)
        let head = HTTP2RequestHead(method: "GET", scheme: "https", authority: "h", path: "/")
        var output: [UInt8] = []
        client.sendPreface(to: &output)
        #expect(try client.sendRequest(head, endStream: true, to: &output) == 1)
        return client
    }

    @Test(arguments: cases) private func isTold(_ test: Case) throws {
        for pieces in [Int.max, 1, 7] {
            var client = try client()
            var transcript = Transcript()
            transcript.feed(Frames.settings() + test.bytes, to: &client, pieces: pieces)
            // Cut in pieces, a frame's bytes are given before its end is seen to be wrong.
            let isCut = pieces < .max && transcript.events.last?.contains("failed") == true
            let events = isCut ? transcript.events.filter { !$0.contains(": data ") } : transcript.events
            #expect(events == test.events, "in pieces of \(pieces)")
            #expect(transcript.error == test.error, "in pieces of \(pieces)")
            // An error of the connection ends what is written with GOAWAY and its code.
            if let error = test.error {
                let goAway = Bytes.written { HTTP2FrameEncoder.goAway(lastStream: 0, error, to: &$0) }
                let sent = Bytes.written { client.drainControlBytes(into: &$0) }
                #expect(sent.suffix(goAway.count) == goAway[...])
                #expect(client.isClosing && client.availableStreams == 0)
            }
        }
    }

    @Test func theFirstFrameMustBeSettings() throws {
        var client = try client()
        var transcript = Transcript()
        transcript.feed(Self.head, to: &client)
        #expect(transcript.error == .protocolError)
    }

    @Test func moreThanTheWindowsAllow() throws {
        // The connection's window and the stream's are 65,535 bytes; nothing is consumed here.
        var client = try client()
        let piece = Frames.raw(0, stream: 1, [UInt8](repeating: 0, count: 16_384))
        let bytes = Frames.settings() + Self.head + piece + piece + piece + piece
        let error = bytes.withUnsafeBytes { input -> HTTP2Error? in
            var position = 0
            do throws(HTTP2Error) {
                while try client.receive(input, &position) != nil {}
                return nil
            } catch {
                return error
            }
        }
        #expect(error?.code == .flowControlError && error?.scope == .connection)
    }

    @Test func framesOfAStreamThatWasResetAreIgnored() throws {
        var client = try client()
        var transcript = Transcript()
        transcript.feed(Frames.settings() + Self.head, to: &client)
        var output: [UInt8] = []
        client.sendReset(1, to: &output)
        transcript.feed(Frames.data(1, "abc") + Frames.headers(1, [("a", "b")], end: true), to: &client)
        #expect(transcript == Transcript(events: ["1: 200 0"]))
        #expect(client.openStreamCount == 0)
    }

    @Test func streamsAreAsManyAsThePeerTakes() throws {
        var client = try client()
        var transcript = Transcript()
        transcript.feed(Frames.settings([HTTP2Setting(.maxConcurrentStreams, 3)]), to: &client)
        #expect(client.availableStreams == 2)
        transcript.feed(Frames.headers(1, [Self.ok], end: true), to: &client)
        #expect(client.availableStreams == 3)
        transcript.feed(Frames.raw(7, Frames.number(1) + Frames.number(0)), to: &client)
        #expect(client.availableStreams == 0)
    }
}
