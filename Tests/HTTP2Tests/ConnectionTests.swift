import LoadingKitHTTP2
import Testing

/// The connection itself: preface, GOAWAY, refusals, stream numbers, PING, and floods.
@Suite struct ConnectionTests {
    private static let ping = Bytes.frame(type: 6, stream: 0, [1, 2, 3, 4, 5, 6, 7, 8])

    private static func goAway(_ last: UInt8, _ code: UInt8 = 0) -> [UInt8] {
        Bytes.frame(type: 7, stream: 0, [0, 0, 0, last, 0, 0, 0, code, 104, 105])
    }

    @Test func prefaceOfTheClient() {
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        let settings = Bytes.frame(type: 4, stream: 0, [])
        for index in preface.indices {
            var wrong = preface
            wrong[index] ^= 1
            var server = Peer(.server)
            server.feed(wrong + settings)
            #expect(server.error == HTTP2Error(.badPreface), "byte \(index)")
        }
        for split in 0..<(preface + settings).count {
            var server = Peer(.server)
            server.feed(Array((preface + settings).prefix(split)))
            server.feed(Array((preface + settings).dropFirst(split)))
            #expect(server.events == [.ready(HTTP2Settings())])
        }
    }

    /// Sent with the first settings, and not again when others change (RFC 9218 §2.1).
    @Test func prioritiesAreSwitchedOffOnce() {
        var settings = HTTP2Settings()
        settings.noRFC7540Priorities = true
        var (client, server) = (Peer(.client, settings: settings), Peer(.server))
        Peer.exchange(&client, &server)
        var announced = settings
        announced.enablePush = false
        #expect(server.events.first == .ready(announced))
        settings.maxConcurrentStreams = 7
        client.machine.updateSettings(settings, to: &client.output)
        #expect(client.takeFrames() == [.other(.settings([HTTP2Setting(.maxConcurrentStreams, 7)]))])
    }

    @Test func settingsComeFirst() {
        let others = [Self.ping, Bytes.frame(type: 4, flags: 1, stream: 0, []), Self.goAway(0), headersFrame(1, [])]
        for bytes in others + [Bytes.frame(type: 8, stream: 1, [0, 0, 0, 0]), Bytes.frame(type: 99, stream: 0, [])] {
            var client = Peer(.client)
            client.feed(bytes)
            #expect(client.error == HTTP2Error(.firstFrameNotSettings), "\(bytes)")
            client.feed(Bytes.frame(type: 4, stream: 0, []))
            #expect(client.events.isEmpty)
            #expect(client.machine.isClosing)
        }
    }

    /// A client may send requests before the server's settings have come (§3.4), up to 100 of them.
    @Test func requestsBeforeSettings() throws {
        var client = Peer(.client)
        #expect(client.machine.availableStreams == 100)
        for _ in 0..<100 { _ = try client.request() }
        #expect(throws: HTTP2Error(.streamLimitReached, .call)) { try client.request() }
        var server = Peer(.server)
        server.feed(client.takeOutput())
        #expect(server.error == nil)
        #expect(server.machine.openStreamCount == 100)
    }

    @Test func pingsAreAnswered() {
        var client = Peer.connected(.client)
        client.feed(Self.ping)
        client.feed(Bytes.frame(type: 6, flags: 1, stream: 0, [0, 0, 0, 0, 0, 0, 0, 9]))
        #expect(client.events == [.pingAcknowledged(9)])
        #expect(client.takeFrames() == [.other(.ping(0x0102_0304_0506_0708, isAcknowledgement: true))])
        client.machine.sendPing(5, to: &client.output)
        #expect(client.takeFrames() == [.other(.ping(5, isAcknowledgement: false))])
        client.feed(Bytes.frame(type: 4, flags: 1, stream: 0, []))
        #expect(client.error == HTTP2Error(.unexpectedSettingsAcknowledgement))
    }

    /// An event has the bytes of its frame, in whatever pieces they come, and not those of frames without an event.
    @Test func anEventHasTheBytesOfItsFrame() throws {
        let head = Bytes.frame(type: 1, stream: 1, [0x88])
        let data = Frames.data(1, "hi", end: true)
        // Bytes, and then: the number of the event's bytes, that of the pending ones, and the stream of an open head.
        let pieces: [([UInt8], event: Int?, pending: Int, open: HTTP2StreamID?)] = [
            (Self.ping + Array(head[..<5]), nil, 5, nil), (Array(head[5..<9]), nil, 9, 1), ([0x88], nil, 10, 1),
            (Bytes.frame(type: 9, flags: 4, stream: 1, []) + Array(data[..<4]), 19, 4, nil),
            (Array(data[4..<9]), nil, 9, nil), (Array(data[9..<10]), 10, 0, nil), (Array(data[10...]), 1, 0, nil),
        ]
        var client = Peer.connected(.client)
        _ = try client.request(endStream: false)
        for (index, (bytes, event, pending, open)) in pieces.enumerated() {
            client.feed(bytes)
            #expect(client.takeEvents().isEmpty == (event == nil), "piece \(index)")
            if let event { #expect(client.machine.eventBytes == event, "piece \(index)") }
            #expect(client.machine.pendingBytes == pending && client.machine.openHead == open, "piece \(index)")
        }
    }

    /// Streams above the number that GOAWAY names were not processed; the others go on.
    @Test func goAwayOfTheServer() throws {
        var client = Peer.connected(.client)
        for _ in 0..<4 { _ = try client.request() }
        client.feed(Self.goAway(3))
        #expect(
            client.takeEvents() == [
                .goAway(lastStream: 3, .noError, debugData: Array("hi".utf8), unprocessed: [5, 7])
            ])
        #expect(client.machine.openStreams == [1, 3])
        #expect(client.machine.availableStreams == 0)
        #expect(throws: HTTP2Error(.connectionClosing, .call)) { try client.request() }
        client.feed(headersFrame(1, endStream: true, responseBlock) + headersFrame(5, endStream: true, responseBlock))
        #expect(client.takeEvents().count == 2, "the late frame is ignored")
        client.feed(Self.goAway(1, 2))
        #expect(
            client.takeEvents() == [
                .goAway(lastStream: 1, .internalError, debugData: Array("hi".utf8), unprocessed: [3])
            ])
        client.feed(Self.goAway(9))
        #expect(
            client.takeEvents() == [.goAway(lastStream: 1, .noError, debugData: Array("hi".utf8), unprocessed: [])])
        #expect(client.error == nil)
    }

    /// §6.8: a notice, then the last stream's number; requests in between are still taken.
    @Test func gracefulShutdown() throws {
        var server = Peer.connected(.server)
        server.feed(headersFrame(1, endStream: true, requestBlock))
        _ = server.takeOutput()
        server.machine.sendShutdownNotice(to: &server.output)
        #expect(server.takeFrames() == [.other(.goAway(lastStream: .last, .noError, debugData: []))])
        server.feed(headersFrame(3, requestBlock))
        #expect(server.machine.openStreams == [1, 3])
        server.machine.sendGoAway(to: &server.output)
        #expect(server.takeFrames() == [.other(.goAway(lastStream: 3, .noError, debugData: []))])
        server.events = []
        let late = headersFrame(5, requestBlock) + Bytes.frame(type: 0, stream: 3, [1])
        server.feed(late + headersFrame(7, requestBlock))
        #expect(server.events == [.data(stream: 3, late.count - 1..<late.count, flowControlled: 1, endStream: false)])
        #expect(server.error == nil)
        #expect(server.machine.openStreams == [1, 3])
    }

    /// §6.8: what comes on streams that a server's GOAWAY leaves out was sent before the client knew, and is dropped; of
    /// flow control and header compression it counts all the same.
    @Test func whatComesBeyondTheGoAwayIsDropped() throws {
        let window: [UInt8] = Bytes.frame(type: 8, stream: 5, [0, 0, 0, 9])
        let body = Bytes.frame(type: 0, stream: 5, Array(repeating: 0, count: 16384))
        let cases: [(String, [UInt8])] = [
            ("DATA", Bytes.frame(type: 0, stream: 5, [1, 2])),
            ("a stream", headersFrame(5, requestBlock) + body + Bytes.frame(type: 0, flags: 1, stream: 5, [])),
            ("RST_STREAM", Bytes.frame(type: 3, stream: 5, [0, 0, 0, 8])),
            ("a stream that is reset", headersFrame(5, requestBlock) + Bytes.frame(type: 3, stream: 5, [0, 0, 0, 8])),
            ("WINDOW_UPDATE", window), ("of 0", Bytes.frame(type: 8, stream: 5, [0, 0, 0, 0])),
            ("trailers", headersFrame(5, requestBlock) + body + headersFrame(5, endStream: true, block(("a", "b")))),
            ("PRIORITY", Bytes.frame(type: 2, stream: 5, [0, 0, 0, 0, 1])),
            ("of the wrong size", Bytes.frame(type: 2, stream: 5, [0])),
            ("more than a window", (0..<6).flatMap { _ in body }),
        ]
        for (name, bytes) in cases {
            for split in [0, bytes.count / 2, bytes.count] {
                var server = Peer.connected(.server)
                server.feed(headersFrame(1, requestBlock))
                server.machine.sendGoAway(to: &server.output)
                server.events = []
                server.feed(Array(bytes[..<split]))
                server.feed(Array(bytes[split...]) + Bytes.frame(type: 0, flags: 1, stream: 1, []))
                #expect(server.error == nil && server.events.count == 1, "\(name)")
                #expect(!server.takeFrames().contains { if case .other(.resetStream) = $0 { true } else { false } })
            }
        }
        var server = Peer.connected(.server)
        server.machine.sendGoAway(to: &server.output)
        _ = server.takeOutput()
        for _ in 0..<2 { server.feed(Bytes.frame(type: 0, stream: 1, Array(repeating: 0, count: 16384))) }
        #expect(server.takeFrames() == [.other(.windowUpdate(stream: .connection, increment: 32768))])
        // A stream of the server's own that it never opened, and one below the last after a notice alone, are idle.
        server.feed(Bytes.frame(type: 0, stream: 2, [1]))
        #expect(server.error == HTTP2Error(.idleStream))
        var noticed = Peer.connected(.server)
        noticed.machine.sendShutdownNotice(to: &noticed.output)
        noticed.feed(Bytes.frame(type: 0, stream: 1, [1]))
        #expect(noticed.error == HTTP2Error(.idleStream))
    }

    @Test func streamsBeyondTheLimitAreRefused() throws {
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = 2
        var server = Peer.connected(.server, settings: settings)
        for stream: UInt32 in [1, 3, 5] { server.feed(headersFrame(stream, endStream: true, requestBlock)) }
        #expect(server.events.count == 2)
        #expect(server.takeFrames() == [.other(.resetStream(stream: 5, .refusedStream))])
        var client = Peer.connected(.client, peerSettings: settings)
        _ = try client.request()
        #expect(client.machine.availableStreams == 1)
        _ = try client.request()
        #expect(throws: HTTP2Error(.streamLimitReached, .call)) { try client.request() }
        client.feed(Bytes.frame(type: 3, stream: 3, [0, 0, 0, 7]))
        #expect(client.events == [.streamReset(stream: 3, .refusedStream)])
        #expect(client.machine.availableStreams == 1)
        #expect(try client.request() == 5)
    }

    @Test func numbersOfStreams() {
        let cases: [([UInt8], HTTP2Error.Kind)] = [
            (headersFrame(2, requestBlock), .badStreamID),
            (headersFrame(5, requestBlock) + headersFrame(3, requestBlock), .closedStream),
        ]
        for (bytes, kind) in cases {
            var server = Peer.connected(.server)
            server.feed(bytes)
            #expect(server.error == HTTP2Error(kind))
        }
        for stream: UInt32 in [1, 2] {
            var client = Peer.connected(.client)
            client.feed(headersFrame(stream, responseBlock))
            #expect(client.error == HTTP2Error(.badStreamID))
        }
    }

    @Test func theOtherRolesCalls() throws {
        var server = Peer.connected(.server)
        #expect(throws: HTTP2Error(.wrongRole, .call)) { try server.request() }
        var client = Peer.connected(.client)
        let stream = try client.request()
        #expect(throws: HTTP2Error(.wrongRole, .call)) {
            try client.machine.sendResponse(200, HTTPFields(), on: stream, endStream: true, to: &client.output)
        }
    }

    /// Frames that do nothing end the connection when there are too many of them, and not before.
    @Test func floods() throws {
        let limit = HTTP2Limits().controlCredit
        let floods: [(String, [UInt8], cost: Int)] = [
            ("PING", Self.ping, 1),
            ("PING with ACK", Bytes.frame(type: 6, flags: 1, stream: 0, Array(repeating: 0, count: 8)), 1),
            ("SETTINGS", Bytes.frame(type: 4, stream: 0, []), 1),
            ("SETTINGS of two", Bytes.frame(type: 4, stream: 0, [0, 4, 0, 0, 255, 255, 0, 4, 0, 0, 255, 255]), 3),
            ("PRIORITY", Bytes.frame(type: 2, stream: 9, [0, 0, 0, 0, 0]), 1),
            ("unknown", Bytes.frame(type: 200, stream: 9, []), 1),
            ("WINDOW_UPDATE", Bytes.frame(type: 8, stream: 0, [0, 0, 0, 1]), 1),
            ("WINDOW_UPDATE on a stream", Bytes.frame(type: 8, stream: 1, [0, 0, 0, 1]), 1),
            ("empty DATA", Bytes.frame(type: 0, stream: 1, []), 1),
            ("DATA of padding", Bytes.frame(type: 0, flags: 8, stream: 1, [3, 0, 0, 0]), 1),
            ("DATA of a padding's length", Bytes.frame(type: 0, flags: 8, stream: 1, [0]), 1),
            ("GOAWAY", Bytes.frame(type: 7, stream: 0, [0, 0, 0, 1, 0, 0, 0, 0]), 1),
        ]
        for (name, bytes, cost) in floods {
            var client = Peer.connected(.client)
            _ = try client.request("POST", endStream: false)
            client.feed(headersFrame(1, responseBlock))
            var count = 0
            while client.error == nil, count < limit * 2 {
                client.feed(bytes)
                count += 1
                // The peer reads the answers.
                if client.error == nil { _ = client.takeOutput() }
            }
            #expect(client.error == HTTP2Error(.controlFlood), "\(name)")
            #expect(client.error?.code == .enhanceYourCalm)
            #expect(count > limit / cost - 10 && count <= limit / cost + 1, "\(name): \(count)")
        }
    }

    /// Padding beside content is the peer's choice.
    @Test func paddedContentIsNoFlood() throws {
        var client = Peer.connected(.client)
        _ = try client.request("POST", endStream: false)
        client.feed(headersFrame(1, responseBlock))
        for _ in 0..<3000 {
            client.feed(Bytes.frame(type: 0, flags: 8, stream: 1, [3, 7, 0, 0, 0]))
            if client.error == nil { _ = client.takeOutput() }
        }
        #expect(client.error == nil)
    }

    @Test func whatPaddingCostsCanBeSet() throws {
        for (cost, count) in [(0, 5000), (400, 3), (.max, 1)] {
            var limits = HTTP2Limits()
            limits.paddingCost = cost
            var client = Peer.connected(.client, limits: limits)
            _ = try client.request("POST", endStream: false)
            client.feed(headersFrame(1, responseBlock))
            var sent = 0
            while client.error == nil, sent < 5000 {
                client.feed(Bytes.frame(type: 0, flags: 8, stream: 1, [3, 0, 0, 0]))
                if client.error == nil { _ = client.takeOutput() }
                sent += 1
            }
            #expect(sent == count)
        }
    }

    /// A peer that opens its window by a few bytes makes this side send frames that are mostly header; one that opens it
    /// by what a frame takes may go on for ever.
    @Test func tinyWindows() throws {
        for (size, isFlood) in [(1, true), (100, true), (1024, false), (16384, false)] {
            var settings = HTTP2Settings()
            settings.initialWindowSize = 0
            var client = Peer.connected(.client, peerSettings: settings)
            let stream = try client.request("POST", endStream: false)
            client.feed(Bytes.frame(type: 8, stream: 0, [0x7f, 0, 0, 0]))
            let update = Bytes.frame(type: 8, stream: 1, [0, 0, UInt8(size >> 8), UInt8(size & 255)])
            let body = Array(repeating: UInt8(0), count: size)
            var count = 0
            while client.error == nil, count < 5000 {
                client.feed(update)
                if client.error == nil { #expect(client.sendBody(body[...], on: stream, endStream: false) == size) }
                if client.error == nil { _ = client.takeOutput() }
                count += 1
            }
            #expect(client.error == (isFlood ? HTTP2Error(.controlFlood) : nil), "\(size) bytes at a time")
        }
    }

    /// CVE-2023-44487 and CVE-2025-8671: streams that are opened to be reset, by either side.
    @Test func rapidReset() {
        let reset = { (stream: UInt32) in Bytes.frame(type: 3, stream: stream, [0, 0, 0, 8]) }
        let provoked = { (stream: UInt32) in Bytes.frame(type: 8, stream: stream, [0, 0, 0, 0]) }
        for end in [reset, provoked] {
            var server = Peer.connected(.server)
            var stream: UInt32 = 1
            while server.error == nil, stream < 10000 {
                server.feed(headersFrame(stream, requestBlock) + end(stream))
                if server.error == nil { _ = server.takeOutput() }
                stream += 2
            }
            #expect(server.error == HTTP2Error(.controlFlood))
            #expect((300...500).contains(stream))
        }
    }

    /// A server may end any number of a client's streams at once: by RST_STREAM, or by a malformed frame.
    @Test(arguments: [[3, 0, 0, 0, 2], [8, 0, 0, 0, 0]] as [[UInt8]]) func resetsOfManyRequests(_ end: [UInt8]) throws {
        var client = Peer.connected(.client)
        for _ in 0..<3 {
            var streams: [HTTP2StreamID] = []
            for _ in 0..<500 { streams.append(try client.request("POST", endStream: false)) }
            for stream in streams {
                client.feed(Bytes.frame(type: end[0], stream: stream.rawValue, Array(end[1...])))
                if client.error == nil { _ = client.takeOutput() }
            }
            #expect(client.error == nil && client.machine.openStreamCount == 0)
            #expect(client.takeEvents().count == 500)
        }
        for _ in 0..<1001 { client.feed(Bytes.frame(type: 3, stream: 1, [0, 0, 0, 2])) }
        #expect(client.error?.kind == .controlFlood, "those of streams that have ended are a flood")
    }

    /// A second gives back what one such frame costs: a connection with one each second lasts for any time.
    @Test func whatComesOnceASecondIsNoFlood() throws {
        let cases: [(String, [UInt8])] = [
            ("PING", Self.ping), ("SETTINGS", Bytes.frame(type: 4, stream: 0, [])),
            ("an event", Bytes.frame(type: 0, stream: 1, [58])), ("empty DATA", Bytes.frame(type: 0, stream: 1, [])),
            ("padding", Bytes.frame(type: 0, flags: 8, stream: 1, [3, 0, 0, 0])),
            ("WINDOW_UPDATE", Bytes.frame(type: 8, stream: 0, [0, 0, 0, 1])),
        ]
        for (name, bytes) in cases {
            var client = Peer.connected(.client)
            _ = try client.request()
            client.feed(headersFrame(1, responseBlock))
            for _ in 0..<2000 {
                for _ in 0..<5 { client.feed(bytes) }
                client.machine.timeDidPass(seconds: 5)
                if client.error == nil { _ = client.takeOutput() }
            }
            #expect(client.error == nil, "\(name)")
        }
    }

    /// Useful work fills the credit: a connection may be used, and cancelled on, for ever.
    @Test func useIsNoFlood() throws {
        var client = Peer.connected(.client)
        var server = Peer.connected(.server)
        for round in 0..<3000 {
            let stream = try client.request("POST", endStream: false)
            #expect(client.sendBody([1, 2, 3], on: stream, endStream: round % 2 == 0) == 3)
            client.machine.sendPing(1, to: &client.output)
            if round % 2 == 1 { client.machine.sendReset(stream, to: &client.output) }
            server.feed(client.takeOutput())
            if round % 2 == 0 {
                try server.machine.sendResponse(204, HTTPFields(), on: stream, endStream: true, to: &server.output)
            } else if round % 4 == 1 {
                server.machine.timeDidPass(seconds: 10)
            }
            client.feed(server.takeOutput())
        }
        #expect(client.error == nil)
        #expect(server.error == nil)
        #expect(client.machine.openStreamCount == 0)
    }

    /// Answers that the peer never reads do not pile up.
    @Test func answersAreBounded() throws {
        var limits = HTTP2Limits()
        limits.controlCredit = 1_000_000
        var client = Peer.connected(.client, limits: limits)
        var count = 0
        while client.error == nil, count < 100_000 {
            client.feed(Self.ping)
            count += 1
        }
        #expect(client.error == HTTP2Error(.pendingControlFlood))
        #expect(count <= limits.pendingControlBytes / 17 + 1)
    }

    /// After an error there is one GOAWAY, and nothing else is sent.
    @Test func errorsEndTheConnection() throws {
        var client = Peer.connected(.client)
        let stream = try client.request("POST", endStream: false)
        _ = client.takeOutput()
        client.feed(Bytes.frame(type: 0, stream: 0, []))
        #expect(client.takeFrames() == [.other(.goAway(lastStream: 0, .protocolError, debugData: []))])
        client.feed(Self.ping)
        client.machine.sendPing(1, to: &client.output)
        client.machine.sendGoAway(to: &client.output)
        #expect(throws: HTTP2Error(.connectionClosing, .call)) {
            try client.machine.sendDataHeader(0, on: stream, endStream: true, to: &client.output)
        }
        client.machine.setReceiveWindow(1 << 20, of: stream)
        client.machine.setConnectionReceiveWindow(1 << 20)
        client.machine.updateSettings(HTTP2Settings(), to: &client.output)
        #expect(client.machine.openStreams == [stream])
        client.machine.sendReset(stream, to: &client.output)
        #expect(client.takeOutput().isEmpty)
    }

    @Test func errorsSayWhatHappened() {
        for kind in HTTP2Error.Kind.allCases {
            let error = HTTP2Error(kind, .stream(5))
            #expect(error.description.contains("stream 5"))
            #expect((error.fault == .user) == (error.code == .internalError), "\(kind)")
        }
        #expect(HTTP2ErrorCode(rawValue: 14).description == "error code 14")
        #expect(HTTP2ErrorCode.http11Required.description == "HTTP_1_1_REQUIRED")
    }
}
