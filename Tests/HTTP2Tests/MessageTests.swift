import LoadingKitHTTP2
import Testing

/// Malformed messages are errors of the stream (RFC 9113 §8.1.1), well-formed ones are not.
@Suite struct MessageTests {
    private typealias Kind = HTTP2Error.Kind
    private static let get = [(":method", "GET"), (":scheme", "https"), (":authority", "a"), (":path", "/")]

    private static func encoded(_ pairs: [(String, String)]) -> [UInt8] {
        pairs.reduce(into: []) { $0 += block($1) }
    }

    private static let responses: [(pairs: [(String, String)], endStream: Bool, kind: Kind?)] = [
        ([(":status", "200")], false, nil),
        ([(":status", "200")], true, nil),
        ([(":status", "999")], true, nil),
        ([(":status", "100")], false, nil),
        ([(":status", "100")], true, .interimEndsStream),
        ([(":status", "101")], false, .switchingProtocols),
        ([(":status", "99")], false, .malformedStatus),
        ([(":status", "2000")], false, .malformedStatus),
        ([(":status", "+20")], false, .malformedStatus),
        ([(":status", "")], false, .malformedStatus),
        ([], false, .missingPseudoField),
        ([("a", "b")], false, .missingPseudoField),
        ([("a", "b"), (":status", "200")], false, .malformedPseudoField),
        ([(":status", "200"), (":status", "200")], false, .malformedPseudoField),
        ([(":status", "200"), (":what", "x")], false, .malformedPseudoField),
        ([(":status", "200"), (":path", "/")], false, .requestInResponse),
        ([(":status", "200"), ("A", "b")], false, .malformedFieldName),
        ([(":status", "200"), ("", "b")], false, .malformedFieldName),
        ([(":status", "200"), ("a b", "b")], false, .malformedFieldName),
        ([(":status", "200"), ("a:", "b")], false, .malformedFieldName),
        ([(":status", "200"), ("a", "b\r\nc: d")], false, .malformedFieldValue),
        ([(":status", "200"), ("a", "b\u{0}")], false, .malformedFieldValue),
        ([(":status", "200"), ("a", " b")], false, nil),
        ([(":status", "200"), ("a", "b\t")], false, nil),
        ([(":status", "200"), ("a", " b\u{0} ")], false, .malformedFieldValue),
        ([(":status", "200"), ("A", " b")], false, .malformedFieldName),
        ([(":status", "200 ")], false, .malformedStatus),
        ([(":status", "200"), ("a", "b\tc d")], false, nil),
        ([(":status", "200"), ("connection", "close")], false, .connectionField),
        ([(":status", "200"), ("keep-alive", "5")], false, .connectionField),
        ([(":status", "200"), ("proxy-connection", "close")], false, .connectionField),
        ([(":status", "200"), ("transfer-encoding", "chunked")], false, .connectionField),
        ([(":status", "200"), ("upgrade", "h2c")], false, .connectionField),
        ([(":status", "200"), ("te", "gzip")], false, .connectionField),
        ([(":status", "200"), ("te", "trailers")], false, nil),
        ([(":status", "200"), ("content-length", "5")], true, .bodyTooShort),
        ([(":status", "200"), ("content-length", " 5")], true, .bodyTooShort),
        ([(":status", "200"), ("content-length", "0")], true, nil),
        ([(":status", "200"), ("content-length", "x")], false, .malformedContentLength),
        ([(":status", "200"), ("content-length", "-1")], false, .malformedContentLength),
        ([(":status", "200"), ("content-length", "")], false, .malformedContentLength),
        ([(":status", "200"), ("content-length", "9223372036854775808")], false, .malformedContentLength),
        ([(":status", "200"), ("content-length", "5"), ("content-length", "6")], false, .malformedContentLength),
        ([(":status", "200"), ("content-length", "5"), ("content-length", "5")], false, nil),
        ([(":status", "204"), ("content-length", "5")], true, nil),
        ([(":status", "304"), ("content-length", "5")], true, nil),
    ]

    @Test func responseHeads() throws {
        for item in Self.responses {
            var client = Peer.connected(.client)
            _ = try client.request()
            _ = client.takeOutput()
            client.feed(headersFrame(1, endStream: item.endStream, Self.encoded(item.pairs)))
            expect(&client, item.kind, "\(item.pairs) \(item.endStream)")
            #expect(try client.request() == 3)
        }
    }

    /// White space around a value is not part of it (RFC 9110 §5.5), in a response's heads as in its trailers.
    @Test func whiteSpaceAroundValuesIsRemoved() throws {
        var client = Peer.connected(.client)
        _ = try client.request()
        let sent = [("a", " b c "), ("d", "\t"), ("e", "f")]
        let read = fields(("a", "b c"), ("d", ""), ("e", "f"))
        client.feed(headersFrame(1, block([(":status", "103")] + sent)))
        client.feed(headersFrame(1, block([(":status", "200")] + sent)))
        client.feed(headersFrame(1, endStream: true, block(sent)))
        let heads = client.events.compactMap { event -> HTTP2Head? in
            if case .headers(1, let head, _) = event { head } else { nil }
        }
        #expect(heads == [.interim(status: 103, read), .response(status: 200, read), .trailers(read)])
        #expect(client.error == nil)
    }

    private func expect(_ client: inout Peer, _ kind: Kind?, _ what: String) {
        #expect(client.error == nil, "\(what)")
        guard let kind else {
            guard case .headers? = client.events.first else {
                Issue.record("\(what): \(client.events)")
                return
            }
            return
        }
        #expect(client.events == [.streamFailed(stream: 1, HTTP2Error(kind, .stream(1)))], "\(what)")
        #expect(client.takeFrames() == [.other(.resetStream(stream: 1, kind.exampleCode))], "\(what)")
    }

    private static let requests: [(pairs: [(String, String)], endStream: Bool, isValid: Bool)] = [
        (get, true, true),
        (Array(get.dropFirst()), true, false),
        (get.filter { $0.0 != ":scheme" }, true, false),
        (get.filter { $0.0 != ":path" }, true, false),
        (get.filter { $0.0 != ":authority" }, true, true),
        (get + [(":status", "200")], true, false),
        (get + [(":path", "/")], true, false),
        (get + [(":protocol", "websocket")], true, false),
        ([(":method", "CONNECT"), (":authority", "a:1")], false, true),
        ([(":method", "CONNECT")], false, false),
        ([(":method", "CONNECT"), (":authority", "a:1"), (":path", "/")], false, false),
        ([(":method", "CONNECT"), (":authority", "")], false, false),
        ([(":method", ""), (":scheme", "https"), (":path", "/")], false, false),
        ([(":method", "GET"), (":scheme", ""), (":path", "/")], false, false),
        ([(":method", "GET"), (":scheme", "https"), (":path", "")], false, false),
        ([(":method", "GET"), (":scheme", "https"), (":path", "/"), (":authority", "")], false, true),
        (get + [("connection", "close")], true, false),
        (get + [("a", " b")], true, false),
        (get + [("a", "b\t")], true, false),
        (get + [("content-length", "4")], true, false),
        (get + [("content-length", "4")], false, true),
    ]

    @Test func requestHeads() {
        for item in Self.requests {
            var server = Peer.connected(.server)
            _ = server.takeOutput()
            server.feed(headersFrame(1, endStream: item.endStream, Self.encoded(item.pairs)))
            #expect(server.error == nil)
            let isEvent = if case .headers(1, .request, _)? = server.events.first { true } else { false }
            #expect(isEvent == item.isValid, "\(item.pairs)")
            let answer: [WholeFrame] = item.isValid ? [] : [.other(.resetStream(stream: 1, .protocolError))]
            #expect(server.takeFrames() == answer, "\(item.pairs)")
        }
    }

    @Test func extendedConnect() throws {
        var settings = HTTP2Settings()
        settings.enableConnectProtocol = true
        var client = Peer(.client)
        var server = Peer(.server, settings: settings)
        Peer.exchange(&client, &server)
        #expect(client.machine.peerSettings.enableConnectProtocol)
        let head = HTTP2RequestHead(
            method: "CONNECT", scheme: "https", authority: "a", path: "/chat", connectProtocol: "websocket")
        _ = try client.machine.sendRequest(head, endStream: false, to: &client.output)
        server.events = []
        server.feed(client.takeOutput())
        #expect(server.events == [.headers(stream: 1, .request(head), endStream: false)])
        // RFC 8441 §3: it may not be taken back.
        client.feed(Bytes.frame(type: 4, stream: 0, [0, 8, 0, 0, 0, 0]))
        #expect(client.error == HTTP2Error(.badSetting))
    }

    /// A success of CONNECT opens a tunnel, whatever its length says (RFC 9110 §9.3.6).
    @Test func theLengthOfATunnelIsIgnored() throws {
        let cases: [(status: String, length: String?, kind: Kind?)] = [
            ("200", "0", nil), ("200", "x", nil), ("204", nil, nil), ("404", "5", nil),
            ("404", "3", .contentLengthMismatch), ("404", "x", .malformedContentLength),
        ]
        var settings = HTTP2Settings()
        settings.enableConnectProtocol = true
        let head = HTTP2RequestHead(
            method: "CONNECT", scheme: "https", authority: "a", path: "/chat", connectProtocol: "websocket")
        for item in cases {
            var client = Peer.connected(.client, peerSettings: settings)
            _ = try client.machine.sendRequest(head, endStream: false, to: &client.output)
            let length = item.length.map { [("content-length", $0)] } ?? []
            client.feed(headersFrame(1, block([(":status", item.status)] + length)))
            client.feed(Bytes.frame(type: 0, flags: 0, stream: 1, [1, 2, 3, 4, 5]))
            let failures = client.events.filter { if case .streamFailed = $0 { true } else { false } }
            let expected = item.kind.map { [HTTP2Event.streamFailed(stream: 1, HTTP2Error($0, .stream(1)))] } ?? []
            #expect(failures == expected && client.error == nil, "\(item)")
            #expect(client.bodies[1, default: []].count == (item.kind == nil ? 5 : 0), "\(item)")
        }
    }

    /// Bodies that are not as long as content-length says.
    @Test func contentLengthAgainstData() throws {
        let trailers = headersFrame(1, endStream: true, block(("a", "b")))
        func data(_ count: Int, _ endStream: Bool) -> [UInt8] {
            Bytes.frame(type: 0, flags: endStream ? 1 : 0, stream: 1, Array(repeating: 0, count: count))
        }
        let cases: [(String, method: String, status: String, [UInt8], kind: Kind?)] = [
            ("all", "GET", "200", data(5, true), nil), ("in two", "GET", "200", data(2, false) + data(3, true), nil),
            ("too much", "GET", "200", data(6, false), .contentLengthMismatch),
            ("too little", "GET", "200", data(4, true), .bodyTooShort),
            ("trailers", "GET", "200", data(5, false) + trailers, nil),
            ("trailers early", "GET", "200", data(4, false) + trailers, .bodyTooShort),
            ("empty end", "GET", "200", data(5, false) + data(0, true), nil),
            ("HEAD", "HEAD", "200", data(0, true), nil),
            ("HEAD with a body", "HEAD", "200", data(1, false) + data(6, true), nil),
            ("204", "GET", "204", data(0, true), nil),
            ("304 with a body", "GET", "304", data(5, true), .contentLengthMismatch),
        ]
        for item in cases {
            var client = Peer.connected(.client)
            _ = try client.request(item.method)
            client.feed(headersFrame(1, block((":status", item.status), ("content-length", "5"))) + item.3)
            let failures = client.events.filter { if case .streamFailed = $0 { true } else { false } }
            let expected = item.kind.map { [HTTP2Event.streamFailed(stream: 1, HTTP2Error($0, .stream(1)))] } ?? []
            #expect(failures == expected, "\(item.0)")
            #expect(client.error == nil)
        }
    }

    /// A frame is judged when it begins, so that how the input is cut decides nothing.
    @Test func contentLengthIsJudgedByFrame() throws {
        func data(_ count: Int, padding: UInt8 = 0, endStream: Bool = false) -> [UInt8] {
            let flags: UInt8 = (endStream ? 1 : 0) | (padding > 0 ? 8 : 0)
            let content = (padding > 0 ? [padding] : []) + Array(repeating: 1, count: count + Int(padding))
            return Bytes.frame(type: 0, flags: flags, stream: 1, content)
        }
        let cases: [(String, [UInt8], body: Int, kind: Kind?)] = [
            ("too much at once", data(6), 0, .contentLengthMismatch),
            ("too much, padded", data(6, padding: 3), 0, .contentLengthMismatch),
            ("too much in the second", data(3) + data(3), 3, .contentLengthMismatch),
            ("too little", data(4, endStream: true), 0, .bodyTooShort),
            ("too little in the second", data(2) + data(2, padding: 1, endStream: true), 2, .bodyTooShort),
            ("as much as said", data(5, padding: 9, endStream: true), 5, nil),
            ("as much as said, in two", data(2) + data(3) + data(0, endStream: true), 5, nil),
        ]
        for (name, bytes, count, kind) in cases {
            for split in 0...bytes.count {
                var client = Peer.connected(.client)
                _ = try client.request()
                client.feed(headersFrame(1, block((":status", "200"), ("content-length", "5"))))
                client.feed(Array(bytes[..<split]))
                client.feed(Array(bytes[split...]))
                #expect(client.bodies[1, default: []].count == count, "\(name), cut at \(split)")
                let failures = client.events.filter { if case .streamFailed = $0 { true } else { false } }
                let expected = kind.map { [HTTP2Event.streamFailed(stream: 1, HTTP2Error($0, .stream(1)))] } ?? []
                #expect(failures == expected, "\(name), cut at \(split)")
                #expect(client.error == nil)
            }
        }
    }

    /// RFC 9110 §9.3.2: a response to HEAD has no content. What some servers send as such is dropped, and given back to the
    /// windows; with its end the response ends.
    @Test func whatComesAsTheBodyOfHeadIsDropped() throws {
        func data(_ count: Int, flags: UInt8 = 0) -> [UInt8] {
            Bytes.frame(type: 0, flags: flags, stream: 1, Array(repeating: 1, count: count))
        }
        let end = HTTP2Event.streamClosed(stream: 1)
        let cases: [(String, [UInt8], isOver: Bool)] = [
            ("one that ends it", data(20, flags: 1), true), ("one", data(20), false),
            ("two and an empty one", data(10) + data(16384) + data(0, flags: 1), true),
            ("padding", Bytes.frame(type: 0, flags: 9, stream: 1, [2, 1, 1, 1]), true),
            ("trailers", data(20) + headersFrame(1, endStream: true, block(("a", "b"))), true),
            ("more than the window", (0..<8).flatMap { _ in data(16384) } + data(1, flags: 1), true),
        ]
        for (name, bytes, isOver) in cases {
            for length in [[("content-length", "5")], []] {
                for piece in [bytes.count, 1000] {
                    var client = Peer.connected(.client)
                    client.consumes = false
                    _ = try client.request("HEAD")
                    client.feed(headersFrame(1, block([(":status", "200")] + length)))
                    for start in stride(from: 0, to: bytes.count, by: piece) {
                        client.feed(Array(bytes[start..<min(start + piece, bytes.count)]))
                    }
                    #expect(client.error == nil && client.bodies[1, default: []] == [], "\(name)")
                    #expect(client.events.contains(end) == isOver, "\(name)")
                    #expect(client.events.contains { if case .data = $0 { true } else { false } }, "\(name)")
                    #expect(!client.events.contains { if case .streamFailed = $0 { true } else { false } }, "\(name)")
                }
            }
        }
    }

    @Test func trailers() throws {
        let cases: [([UInt8], endStream: Bool, Kind?)] = [
            (block(("a", "b")), true, nil), ([], true, nil), (block(("a", "b")), false, .trailersWithoutEnd),
            (block((":status", "200")), true, .malformedPseudoField), (block(("A", "b")), true, .malformedFieldName),
            (block(("a", " b ")), true, nil), (block(("a", " b\n")), true, .malformedFieldValue),
        ]
        for (bytes, endStream, kind) in cases {
            var client = Peer.connected(.client)
            _ = try client.request()
            client.feed(headersFrame(1, responseBlock))
            client.events = []
            _ = client.takeOutput()
            client.feed(headersFrame(1, endStream: endStream, bytes))
            expect(&client, kind, "trailers \(bytes)")
        }
    }

    @Test func interimResponsesAreBounded() throws {
        var client = Peer.connected(.client)
        _ = try client.request()
        let interim = headersFrame(1, block((":status", "103")))
        for _ in 0..<32 { client.feed(interim) }
        #expect(client.events.count == 32)
        client.feed(interim)
        #expect(client.events.last == .streamFailed(stream: 1, HTTP2Error(.tooManyInterimResponses, .stream(1))))
    }

    /// A server that takes an upload tells of its progress in them.
    @Test(arguments: [([12_288 + 4095, 4096], 4), (Array(repeating: 1000, count: 60), 14)])
    func interimResponsesForWhatIsSent(_ pieces: [Int], _ more: Int) throws {
        var client = Peer.connected(.client)
        let stream = try client.request("POST", endStream: false)
        for piece in pieces {
            try client.machine.sendDataHeader(piece, on: stream, endStream: false, to: &client.output)
        }
        try client.machine.sendDataHeader(0, on: stream, endStream: true, to: &client.output)
        let interim = headersFrame(stream.rawValue, block((":status", "104")))
        for _ in 0..<32 + more { client.feed(interim) }
        #expect(client.events.count == 32 + more)
        client.feed(interim)
        #expect(client.events.last == .streamFailed(stream: stream, HTTP2Error(.tooManyInterimResponses, .stream(1))))
    }

    /// As many gigabytes as an upload may have.
    @Test func interimResponsesForALongUpload() throws {
        var settings = HTTP2Settings()
        settings.maxFrameSize = 1 << 23
        var limits = HTTP2Limits()
        (limits.interimResponses, limits.bytesForInterimResponse) = (2, 1 << 30)
        var client = Peer.connected(.client, peerSettings: settings, limits: limits)
        let stream = try client.request("POST", endStream: false)
        let update = Frames.number(1 << 23)
        for _ in 0..<1024 {
            client.feed(Frames.raw(8, update) + Frames.raw(8, stream: stream.rawValue, update))
            try client.machine.sendDataHeader(1 << 23, on: stream, endStream: false, to: &client.output)
        }
        #expect(client.error == nil)
        client.events = []
        let interim = headersFrame(stream.rawValue, block((":status", "104")))
        for _ in 0..<10 { client.feed(interim) }
        #expect(client.events.count == 10)
        client.feed(interim)
        #expect(client.events.last == .streamFailed(stream: stream, HTTP2Error(.tooManyInterimResponses, .stream(1))))
    }

    /// A limit of 0 allows none for them.
    @Test func noInterimResponsesForWhatIsSent() throws {
        var limits = HTTP2Limits()
        limits.bytesForInterimResponse = 0
        var client = Peer.connected(.client, limits: limits)
        let stream = try client.request("POST", endStream: false)
        try client.machine.sendDataHeader(16_384, on: stream, endStream: true, to: &client.output)
        let interim = headersFrame(stream.rawValue, block((":status", "104")))
        for _ in 0..<33 { client.feed(interim) }
        #expect(client.events.last == .streamFailed(stream: stream, HTTP2Error(.tooManyInterimResponses, .stream(1))))
    }

    @Test func connectionFieldsAreRemoved() {
        var removed = fields(("Connection", "a"), ("A", "b"), ("TE", "gzip"), ("Upgrade", "c"), ("Keep-Alive", "5"))
        removed.removeConnectionFields()
        #expect(removed == fields(("A", "b")))
        var kept = fields(("TE", "trailers"))
        kept.removeConnectionFields()
        #expect(kept.count == 1)
        var none = fields(("A", "b"))
        none.removeConnectionFields()
        #expect(none.count == 1)
    }

    @Test func priorities() {
        let values: [(Float, String?)] = [
            (0, "u=7"), (0.25, "u=5"), (0.5, nil), (0.75, "u=2"), (1, "u=0"), (-.infinity, "u=7"), (9, "u=0"),
            (.nan, nil),
        ]
        for (priority, value) in values { #expect(RequestPriority.fieldValue(priority) == value, "\(priority)") }
        #expect(RequestPriority.fieldValue(0.5, incremental: true) == "i")
        #expect(RequestPriority.fieldValue(1, incremental: true) == "u=0, i")
    }
}

extension HTTP2Error.Kind {
    /// The code of an error of that kind.
    var exampleCode: HTTP2ErrorCode { HTTP2Error(self).code }
}
