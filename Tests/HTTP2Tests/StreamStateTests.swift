import LoadingKitHTTP2
import Testing

/// Every frame that belongs to a stream, in every state that a stream can have (RFC 9113 §5.1), in both roles.
@Suite struct StreamStateTests {
    /// A stream's state, and how it comes about on stream 1 of either role.
    enum State: CaseIterable {
        case idle, open, openAfterHead, halfClosedLocal, halfClosedLocalAfterHead, halfClosedRemote, ended, resetByUs
        case resetByPeer
    }

    enum Frame: CaseIterable {
        case data, emptyData, headers, trailers, priority, badPriority, reset, window, zeroWindow, largeWindow
        case pushPromise
    }

    enum Outcome: Equatable {
        case event(String)
        /// A stream error, reported and answered with RST_STREAM.
        case failed(HTTP2Error.Kind)
        /// RST_STREAM with that code, without an event.
        case answered(HTTP2ErrorCode)
        case ignored
        case connection(HTTP2Error.Kind)
    }

    private static func bytes(_ frame: Frame, _ role: HTTP2Role) -> [UInt8] {
        switch frame {
        case .data: return Bytes.frame(type: 0, stream: 1, [1, 2, 3])
        case .emptyData: return Bytes.frame(type: 0, flags: 1, stream: 1, [])
        case .headers: return headersFrame(1, role == .client ? responseBlock : requestBlock)
        case .trailers: return headersFrame(1, endStream: true, block(("a", "b")))
        case .priority: return Bytes.frame(type: 2, stream: 1, [0, 0, 0, 1, 0])
        case .badPriority: return Bytes.frame(type: 2, stream: 1, [0])
        case .reset: return Bytes.frame(type: 3, stream: 1, [0, 0, 0, 8])
        case .window: return Bytes.frame(type: 8, stream: 1, [0, 0, 0, 1])
        case .zeroWindow: return Bytes.frame(type: 8, stream: 1, [0, 0, 0, 0])
        case .largeWindow: return Bytes.frame(type: 8, stream: 1, [0x7f, 0xff, 0xff, 0xff])
        case .pushPromise: return Bytes.frame(type: 5, flags: 4, stream: 1, [0, 0, 0, 2])
        }
    }

    /// A client with stream 1 in that state.
    private static func client(_ state: State) throws -> Peer {
        var peer = Peer.connected(.client)
        if state == .idle { return peer }
        let sendsAll = [.halfClosedLocal, .halfClosedLocalAfterHead, .ended].contains(state)
        #expect(try peer.request("POST", endStream: sendsAll) == 1)
        switch state {
        case .idle, .open, .halfClosedLocal: break
        case .openAfterHead, .halfClosedLocalAfterHead: peer.feed(headersFrame(1, responseBlock))
        case .halfClosedRemote, .ended: peer.feed(headersFrame(1, endStream: true, responseBlock))
        case .resetByUs: peer.machine.sendReset(1, to: &peer.output)
        case .resetByPeer: peer.feed(Bytes.frame(type: 3, stream: 1, [0, 0, 0, 8]))
        }
        return peer
    }

    /// A server with stream 1 in that state. A server has no stream whose head it waits for.
    private static func server(_ state: State) throws -> Peer? {
        var peer = Peer.connected(.server)
        switch state {
        case .idle: return peer
        case .open, .halfClosedLocal: return nil
        case .openAfterHead, .resetByUs, .resetByPeer, .halfClosedLocalAfterHead:
            peer.feed(headersFrame(1, requestBlock))
        case .halfClosedRemote, .ended: peer.feed(headersFrame(1, endStream: true, requestBlock))
        }
        switch state {
        case .halfClosedLocalAfterHead, .ended:
            try peer.machine.sendResponse(200, HTTPFields(), on: 1, endStream: true, to: &peer.output)
        case .resetByUs: peer.machine.sendReset(1, to: &peer.output)
        case .resetByPeer: peer.feed(Bytes.frame(type: 3, stream: 1, [0, 0, 0, 8]))
        case .idle, .open, .openAfterHead, .halfClosedLocal, .halfClosedRemote: break
        }
        return peer
    }

    /// The behaviour that the RFC requires, of a client if the roles differ.
    private static func expected(_ frame: Frame, _ state: State, _ role: HTTP2Role) -> Outcome {
        switch frame {
        case .pushPromise: return .connection(.pushRefused)
        case .priority: return .ignored
        case .badPriority:
            return [.idle, .ended, .resetByUs, .resetByPeer].contains(state) ? .ignored : .failed(.frameSize)
        case .reset, .window, .zeroWindow, .largeWindow: return control(frame, state)
        case .data, .emptyData, .headers, .trailers: return message(frame, state, role)
        }
    }

    private static func control(_ frame: Frame, _ state: State) -> Outcome {
        switch state {
        case .idle: return .connection(frame == .zeroWindow ? .zeroIncrement : .idleStream)
        case .ended, .resetByUs, .resetByPeer: return .ignored
        case .open, .openAfterHead, .halfClosedLocal, .halfClosedLocalAfterHead, .halfClosedRemote:
            switch frame {
            case .reset: return .event("streamReset")
            case .zeroWindow: return .failed(.zeroIncrement)
            case .largeWindow: return .failed(.windowOverflow)
            default: return .ignored
            }
        }
    }

    private static func message(_ frame: Frame, _ state: State, _ role: HTTP2Role) -> Outcome {
        let isData = frame == .data || frame == .emptyData
        switch state {
        case .idle:
            if isData { return .connection(.idleStream) }
            if role == .client { return .connection(.badStreamID) }
            return frame == .headers ? .event("headers") : .answered(.protocolError)
        case .open, .halfClosedLocal:
            if isData { return .failed(.dataBeforeHead) }
            return frame == .headers ? .event("headers") : .failed(.missingPseudoField)
        case .openAfterHead, .halfClosedLocalAfterHead:
            if isData { return .event("data") }
            return frame == .headers ? .failed(.trailersWithoutEnd) : .event("headers")
        case .halfClosedRemote: return .failed(.closedStream)
        case .resetByUs: return .ignored
        case .resetByPeer: return .answered(.streamClosed)
        case .ended: return .connection(.closedStream)
        }
    }

    private static func outcome(_ peer: inout Peer, _ bytes: [UInt8]) -> Outcome {
        _ = peer.takeOutput()
        peer.events = []
        peer.feed(bytes)
        if let error = peer.error { return .connection(error.kind) }
        let answers = peer.takeFrames()
        if case .streamFailed(_, let error)? = peer.events.first {
            #expect(answers == [.other(.resetStream(stream: 1, error.code))])
            #expect(!peer.machine.isOpen(1))
            return .failed(error.kind)
        }
        if let event = peer.events.first { return .event(String("\(event)".prefix { $0 != "(" })) }
        if case .other(.resetStream(1, let code))? = answers.first { return .answered(code) }
        return .ignored
    }

    @Test func everyFrameInEveryState() throws {
        for state in State.allCases {
            for frame in Frame.allCases {
                var client = try Self.client(state)
                #expect(
                    Self.outcome(&client, Self.bytes(frame, .client)) == Self.expected(frame, state, .client),
                    "client, \(frame) in \(state)")
                guard var server = try Self.server(state) else { continue }
                #expect(
                    Self.outcome(&server, Self.bytes(frame, .server)) == Self.expected(frame, state, .server),
                    "server, \(frame) in \(state)")
            }
        }
    }

    /// The frames that this side may send in each state.
    @Test func everySendInEveryState() throws {
        typealias Send = (String, (inout Peer) throws -> Void, allowed: [State], head: HTTP2Error.Kind)
        let sends: [Send] = [
            (
                "DATA", { try $0.machine.sendDataHeader(0, on: 1, endStream: false, to: &$0.output) },
                [.open, .openAfterHead, .halfClosedRemote], .headNotSent
            ),
            (
                "trailers", { try $0.machine.sendTrailers(fields(("a", "b")), on: 1, to: &$0.output) },
                [.open, .openAfterHead, .halfClosedRemote], .headNotSent
            ),
        ]
        for state in State.allCases {
            for send in sends {
                var peer = try Self.client(state)
                _ = peer.takeOutput()
                do {
                    try send.1(&peer)
                    #expect(send.allowed.contains(state), "\(send.0) in \(state)")
                } catch let error as HTTP2Error {
                    #expect(!send.allowed.contains(state), "\(send.0) in \(state): \(error)")
                    #expect(error.scope == .call && error.fault == .user)
                    #expect(peer.takeOutput().isEmpty, "\(send.0) in \(state) wrote bytes")
                }
            }
        }
    }

    @Test func serverSendsHeadFirst() throws {
        var server = Peer.connected(.server)
        server.feed(headersFrame(1, requestBlock))
        #expect(throws: HTTP2Error(.headNotSent, .call)) {
            try server.machine.sendDataHeader(0, on: 1, endStream: true, to: &server.output)
        }
        #expect(server.machine.sendableBytes(on: 1) == 0)
        for (status, endStream) in [(99, false), (101, false), (103, true), (1000, false)] {
            #expect(throws: HTTP2Error(.invalidValue, .call)) {
                try server.machine.sendResponse(status, HTTPFields(), on: 1, endStream: endStream, to: &server.output)
            }
        }
        try server.machine.sendResponse(100, HTTPFields(), on: 1, endStream: false, to: &server.output)
        try server.machine.sendResponse(200, HTTPFields(), on: 1, endStream: false, to: &server.output)
        #expect(throws: HTTP2Error(.headSent, .call)) {
            try server.machine.sendResponse(200, HTTPFields(), on: 1, endStream: false, to: &server.output)
        }
    }

    /// Fields that were sent before, and were changed since.
    @Test func fieldsAreCheckedAgainWhenTheyChange() throws {
        var client = Peer.connected(.client)
        var head = HTTP2RequestHead(
            method: "GET", scheme: "https", authority: "a", path: "/", fields: fields(("a", "b"), ("c", "d")))
        for _ in 0..<2 { _ = try client.machine.sendRequest(head, endStream: true, to: &client.output) }
        head.fields.set(name: "c", value: "d\n")
        #expect(throws: HTTP2Error(.invalidValue, .call)) {
            try client.machine.sendRequest(head, endStream: true, to: &client.output)
        }
        head.fields.remove(name: "c")
        _ = try client.machine.sendRequest(head, endStream: true, to: &client.output)
        head.fields.append(.connection, "close")
        #expect(throws: HTTP2Error(.connectionFieldSent, .call)) {
            try client.machine.sendRequest(head, endStream: true, to: &client.output)
        }
        head.fields = HTTPFields()
        _ = try client.machine.sendRequest(head, endStream: true, to: &client.output)
        head.fields.append(name: "a b", value: "")
        #expect(throws: HTTP2Error(.invalidValue, .call)) {
            try client.machine.sendRequest(head, endStream: true, to: &client.output)
        }
    }

    /// Values that cannot be read as they were sent.
    @Test func valuesAreChecked() throws {
        let cases = [
            "": true, "b": true, "b\tc": true, " b": false, "b\t": false, "b\0c": false, "b\rc": false, "b\nc": false,
        ]
        for (value, isAllowed) in cases {
            var client = Peer.connected(.client)
            let head = HTTP2RequestHead(
                method: "GET", scheme: "https", authority: "a", path: "/", fields: fields(("a", value)))
            let stream = try? client.machine.sendRequest(head, endStream: true, to: &client.output)
            #expect((stream != nil) == isAllowed, "\(value.debugDescription)")
        }
    }

    /// Calls that are refused, and change nothing.
    @Test func requestsThatCannotBeSent() throws {
        let bad: [(HTTP2RequestHead, HTTP2Error.Kind)] = [
            (.init(method: "", scheme: "https", authority: "a", path: "/"), .invalidValue),
            (.init(method: "GE T", scheme: "https", authority: "a", path: "/"), .invalidValue),
            (.init(method: "GET", scheme: nil, authority: "a", path: "/"), .invalidValue),
            (.init(method: "GET", scheme: "https", authority: "a", path: nil), .invalidValue),
            (.init(method: "GET", scheme: "https", authority: "a", path: ""), .invalidValue),
            (.init(method: "GET", scheme: "https", authority: "a", path: "/a b"), .invalidValue),
            (.init(method: "GET", scheme: "https", authority: "a\r\nb", path: "/"), .invalidValue),
            (.init(method: "CONNECT", scheme: "https", authority: "a", path: "/"), .invalidValue),
            (.init(method: "CONNECT", scheme: nil, authority: nil, path: nil), .invalidValue),
            (
                .init(method: "CONNECT", scheme: "https", authority: "a", path: "/", connectProtocol: "websocket"),
                .invalidValue
            ),
        ]
        let badFields: [(HTTPFields, HTTP2Error.Kind)] = [
            (fields(("a", "b\nc")), .invalidValue), (fields(("a", "b\u{0}")), .invalidValue),
            (fields(("a", " b")), .invalidValue), (fields(("", "b")), .invalidValue),
            (fields((":path", "b")), .invalidValue), (fields(("a b", "b")), .invalidValue),
            (fields(("Connection", "close")), .connectionFieldSent), (fields(("TE", "gzip")), .connectionFieldSent),
            (fields(("Transfer-Encoding", "chunked")), .connectionFieldSent),
        ]
        let heads =
            bad
            + badFields.map {
                (HTTP2RequestHead(method: "GET", scheme: "https", authority: "a", path: "/", fields: $0), $1)
            }
        for (head, kind) in heads {
            var client = Peer.connected(.client)
            _ = client.takeOutput()
            #expect(throws: HTTP2Error(kind, .call), "\(head)") {
                try client.machine.sendRequest(head, endStream: true, to: &client.output)
            }
            #expect(client.takeOutput().isEmpty)
            #expect(try client.request() == 1)
        }
    }
}
