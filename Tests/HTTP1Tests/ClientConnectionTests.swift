import LoadingKitHTTP1
import Testing

/// Exchanges on a client's connection, one after the other (RFC 9112 §9).
@Suite struct ClientConnectionTests {
    private func sent(
        _ connection: inout ClientConnection, _ method: String = "GET", fields: HTTPFields = HTTPFields(),
        _ framing: RequestBodyFraming = .none
    ) throws -> String {
        var output: [UInt8] = []
        try connection.sendRequest(method: method, target: "/x", fields: fields, framing: framing, into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func requests() throws {
        var fields = HTTPFields()
        fields.append(.host, "h")
        fields.append(.contentLength, "99")
        fields.append(.transferEncoding, "gzip")
        fields.append(name: "X", value: "y")
        let head = "POST /x HTTP/1.1\r\nHost: h\r\nX: y\r\n"
        let framings: [(RequestBodyFraming, String)] = [
            (.none, ""), (.length(0), "Content-Length: 0\r\n"),
            (.length(.max), "Content-Length: 18446744073709551615\r\n"),
            (.chunked, "Transfer-Encoding: chunked\r\n"),
        ]
        for (framing, line) in framings {
            var connection = ClientConnection()
            #expect(try sent(&connection, "POST", fields: fields, framing) == head + line + "\r\n")
        }
    }

    @Test func aRequestRefusedChangesNothing() throws {
        var connection = ClientConnection()
        var fields = HTTPFields()
        fields.append(name: "X", value: "a\r\nb")
        #expect(throws: HTTP1Error(.invalidFieldValue)) { try sent(&connection, fields: fields) }
        #expect(connection.canCarryAnotherRequest)
        _ = try sent(&connection)
        #expect(!connection.canCarryAnotherRequest)
    }

    @Test func bodies() throws {
        var connection = ClientConnection()
        _ = try sent(&connection, "PUT", .length(5))
        var before: [UInt8] = []
        var after: [UInt8] = []
        try connection.sendBody(3, before: &before, after: &after)
        try connection.sendBody(0, before: &before, after: &after)
        #expect(throws: HTTP1Error(.bodyTooLong)) { try connection.sendBody(3, before: &before, after: &after) }
        #expect(throws: HTTP1Error(.bodyTooShort(missing: 2))) { try connection.finishBody(into: &before) }
        try connection.sendBody(2, before: &before, after: &after)
        try connection.finishBody(into: &before)
        #expect(throws: HTTP1Error(.bodyTooLong)) { try connection.sendBody(1, before: &before, after: &after) }
        #expect(throws: HTTP1Error(.noBodyExpected)) { try connection.sendBody(0, before: &before, after: &after) }
        #expect(before.isEmpty && after.isEmpty)
    }

    @Test func chunks() throws {
        var connection = ClientConnection()
        var output = Array(try sent(&connection, "PUT", .chunked).utf8)
        let head = output.count
        for chunk in ["", "hello", String(repeating: "x", count: 300)] {
            var after: [UInt8] = []
            try connection.sendBody(chunk.utf8.count, before: &output, after: &after)
            output += Array(chunk.utf8) + after
        }
        var trailers = HTTPFields()
        trailers.append(name: "T", value: "1\n")
        let count = output.count
        #expect(throws: HTTP1Error(.invalidFieldValue)) {
            try connection.finishBody(trailers: trailers, into: &output)
        }
        #expect(output.count == count)
        trailers.set(name: "T", value: "1")
        trailers.append(.contentLength, "5")
        try connection.finishBody(trailers: trailers, into: &output)
        let body = "5\r\nhello\r\n12c\r\n" + String(repeating: "x", count: 300) + "\r\n0\r\nT: 1\r\n\r\n"
        #expect(String(decoding: output[head...], as: UTF8.self) == body)
        #expect(throws: HTTP1Error(.trailersNeedChunked)) {
            try connection.finishBody(trailers: trailers, into: &output)
        }
    }

    @Test func oneExchangeAfterTheOther() throws {
        var connection = ClientConnection()
        for method in ["GET", "HEAD", "GET"] {
            _ = try sent(&connection, method)
            let body = method == "HEAD" ? "" : "hello"
            let events = try ClientConnectionPairTests.receive(
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\(body)", with: &connection)
            #expect(events == (method == "HEAD" ? ["head", "end"] : ["head", "body", "end"]))
            #expect(connection.canCarryAnotherRequest)
        }
    }

    static let endings: [(response: String, request: String?, reusable: Bool)] = [
        ("HTTP/1.1 204 No Content\r\n\r\n", nil, true),
        ("HTTP/1.1 204 No Content\r\n\r\n", "close", false),
        ("HTTP/1.1 204 No Content\r\n\r\n", "keep-alive", true),
        ("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", nil, false),
        ("HTTP/1.0 204 No Content\r\n\r\n", nil, false),
        ("HTTP/1.0 204 No Content\r\nConnection: keep-alive\r\n\r\n", nil, true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", nil, true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n", nil, false),
    ]

    @Test(arguments: endings.indices)
    func ending(_ index: Int) throws {
        let (response, option, reusable) = Self.endings[index]
        var connection = ClientConnection()
        var fields = HTTPFields()
        if let option { fields.append(.connection, option) }
        _ = try sent(&connection, fields: fields)
        #expect(verified(connection, response).ends == 1)
        #expect(try ClientConnectionPairTests.receive(response, with: &connection).last == "end")
        #expect(connection.canCarryAnotherRequest == reusable)
    }

    /// The second response is one that nobody asked for.
    @Test func twoResponses() throws {
        var connection = ClientConnection()
        _ = try sent(&connection)
        let response = "HTTP/1.1 204 No Content\r\n\r\n"
        let transcript = verified(connection, response + response)
        #expect(transcript.ends == 1)
        #expect(transcript.error?.kind == .unexpectedBytes)
    }

    /// What the server reads next is the rest of the body, so that no other request may be sent.
    @Test func aResponseBeforeTheRequestIsComplete() throws {
        for framing in [RequestBodyFraming.length(1), .chunked] {
            var connection = ClientConnection()
            _ = try sent(&connection, "POST", framing)
            try ClientConnectionPairTests.receive(
                "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", with: &connection)
            #expect(!connection.canCarryAnotherRequest)
        }
    }

    @Test func untilClose() throws {
        var connection = ClientConnection()
        _ = try sent(&connection)
        let transcript = verified(connection, "HTTP/1.1 200 OK\r\n\r\nhello", isClosed: true)
        #expect(transcript.body == Array("hello".utf8) && transcript.ends == 1)
    }

    @Test func closedAfterAnInterimResponse() throws {
        var connection = ClientConnection()
        _ = try sent(&connection)
        let transcript = verified(connection, "HTTP/1.1 100 Continue\r\n\r\n", isClosed: true)
        #expect(transcript.error?.kind == .closedEarly(.beforeFinalResponse))
    }

    /// A server that takes an upload tells of its progress in them.
    @Test(arguments: [(RequestBodyFraming.length(100_000), 4096, 24), (.chunked, 50_000, 2), (.length(100_000), 0, 0)])
    func interimResponsesForWhatIsSent(_ framing: RequestBodyFraming, _ bytes: Int, _ more: Int) throws {
        var limits = HTTP1Limits()
        (limits.interimResponses, limits.bytesForInterimResponse) = (2, bytes)
        let interim = "HTTP/1.1 104 Upload Resumption Supported\r\n\r\n"
        for pieces in [0, 1, 100] {
            var connection = ClientConnection(limits: limits)
            _ = try sent(&connection, "POST", framing)
            var (before, after): ([UInt8], [UInt8]) = ([], [])
            for _ in 0..<pieces { try connection.sendBody(100_000 / pieces, before: &before, after: &after) }
            let most = 2 + (pieces > 0 ? more : 0)
            let text = String(repeating: interim, count: most)
            #expect(verified(connection, text).error == nil)
            #expect(verified(connection, text + interim).error?.kind == .tooManyInterimResponses)
        }
    }

    /// Known from the head on, as who takes the connection need not read on.
    @Test(arguments: [
        ("GET", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", true),
        ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", false), ("GET", "HTTP/1.1 204 No\r\n\r\n", false),
        ("CONNECT", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", true),
        ("CONNECT", "HTTP/1.1 403 No\r\nContent-Length: 1\r\n\r\n", false),
    ])
    func switching(_ method: String, _ response: String, _ isSwitching: Bool) throws {
        var connection = ClientConnection()
        #expect(!connection.isSwitching)
        var output: [UInt8] = []
        try connection.sendRequest(
            method: method, target: method == "GET" ? "/" : "h:443", fields: HTTPFields(), framing: .none, into: &output
        )
        #expect(!connection.isSwitching)
        var position = 0
        let event = try Array(response.utf8).withUnsafeBytes { try connection.next($0, &position) }
        guard case .head? = event else { return _ = Issue.record("no head") }
        #expect(connection.isSwitching == isSwitching && !connection.isSwitched)
        guard isSwitching else { return }
        let end = try Array(response.utf8).withUnsafeBytes { try connection.next($0, &position) }
        guard case .end? = end else { return _ = Issue.record("no end") }
        #expect(connection.isSwitching && connection.isSwitched)
    }

    @Test func tunnel() throws {
        var connection = ClientConnection()
        var output: [UInt8] = []
        try connection.sendRequest(
            method: "CONNECT", target: "h:443", fields: HTTPFields(), framing: .none, into: &output)
        let events = try ClientConnectionPairTests.receive("HTTP/1.1 200 OK\r\n\r\n\u{16}\u{3}", with: &connection)
        #expect(events == ["head", "end"])
        #expect(connection.isSwitched && !connection.canCarryAnotherRequest)
    }
}

extension ClientConnectionTests {
    /// They go before the others, and count with them.
    @Test func fieldsThatGoFirst() throws {
        func fields(_ pairs: [(String, String)]) -> HTTPFields {
            pairs.reduce(into: HTTPFields()) { $0.append(name: $1.0, value: $1.1) }
        }
        let cases: [(String, String?, Bool)] = [
            ("keep-alive", nil, true), ("close", nil, false), ("keep-alive", "close", false),
        ]
        for (first, rest, isKept) in cases {
            for isAhead in [false, true] {
                var connection = ClientConnection()
                let before = fields([("Host", "h"), ("Connection", first)])
                let after = fields([("A", "b")] + (rest.map { [("Connection", $0)] } ?? []))
                var output: [UInt8] = []
                if isAhead {
                    try connection.sendAhead(method: "GET", target: "/", first: before, fields: after, into: &output)
                } else {
                    try connection.sendRequest(
                        method: "GET", target: "/", first: before, fields: after, framing: .none, into: &output)
                    try connection.finishBody(into: &output)
                }
                let head = "GET / HTTP/1.1\r\nHost: h\r\nConnection: \(first)\r\nA: b\r\n"
                #expect(String(decoding: output, as: UTF8.self).hasPrefix(head))
                _ = try ClientConnectionPairTests.receive(
                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", with: &connection)
                #expect(connection.canCarryAnotherRequest == isKept, "\(first) \(rest ?? "") \(isAhead)")
            }
        }
    }
}

// MARK: - Requests sent ahead of answers (RFC 9112 §9.3.2)

extension ClientConnectionTests {
    private func sentAhead(
        _ connection: inout ClientConnection, _ method: String = "GET", fields: HTTPFields = HTTPFields()
    ) throws -> String {
        var output: [UInt8] = []
        try connection.sendAhead(method: method, target: "/y", fields: fields, into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Each answer is framed by the method of its own request.
    @Test func answersInOrder() throws {
        var connection = ClientConnection()
        #expect(!connection.canSendAhead && !connection.awaitsResponse)
        #expect(try sentAhead(&connection) == "GET /y HTTP/1.1\r\n\r\n")
        for method in ["HEAD", "GET", "HEAD"] {
            #expect(connection.canSendAhead)
            #expect(try sentAhead(&connection, method) == "\(method) /y HTTP/1.1\r\n\r\n")
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        let responses = head + "ab" + head + "HTTP/1.1 100 Continue\r\n\r\n" + head + "cd" + head
        let transcript = verified(connection, responses)
        #expect(transcript.ends == 4 && transcript.body == Array("abcd".utf8) && transcript.error == nil)
        #expect(verified(connection, responses + head).error?.kind == .unexpectedBytes)
        for count in 1...4 {
            #expect(connection.awaitsResponse && !connection.canCarryAnotherRequest)
            try ClientConnectionPairTests.receive(count % 2 == 0 ? head : head + "ab", with: &connection)
        }
        #expect(!connection.awaitsResponse && connection.canCarryAnotherRequest)
    }

    @Test func anAnswerThatEndsTheConnectionIsTheLast() throws {
        for response in [
            "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", "HTTP/1.0 204 No Content\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        ] {
            var connection = ClientConnection()
            _ = try sent(&connection)
            _ = try sentAhead(&connection)
            try ClientConnectionPairTests.receive(response, with: &connection)
            #expect(!connection.awaitsResponse && !connection.canCarryAnotherRequest && !connection.canSendAhead)
        }
    }

    /// Nothing goes out behind a body in progress, behind a request that says `close`, or behind a response that does.
    @Test func whatMayNotBeSentAhead() throws {
        var close = HTTPFields()
        close.append(.connection, "close")
        var connection = ClientConnection()
        _ = try sent(&connection, "POST", .length(1))
        #expect(throws: HTTP1Error(.connectionBusy)) { try sentAhead(&connection) }

        connection = ClientConnection()
        _ = try sent(&connection)
        _ = try sentAhead(&connection, fields: close)
        #expect(!connection.canSendAhead)
        #expect(throws: HTTP1Error(.connectionClosed)) { try sentAhead(&connection) }
        let answer = "HTTP/1.1 204 No Content\r\n\r\n"
        #expect(verified(connection, answer + answer).ends == 2)
        try ClientConnectionPairTests.receive(answer + answer, with: &connection)
        #expect(!connection.canCarryAnotherRequest)

        connection = ClientConnection()
        _ = try sent(&connection)
        try ClientConnectionPairTests.receive(
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\na", with: &connection)
        #expect(throws: HTTP1Error(.connectionClosed)) { try sentAhead(&connection) }

        connection = ClientConnection()
        _ = try sent(&connection)
        var bad = HTTPFields()
        bad.append(name: "X", value: "a\r\nb")
        #expect(throws: HTTP1Error(.invalidFieldValue)) { try sentAhead(&connection, fields: bad) }
        try ClientConnectionPairTests.receive(answer, with: &connection)
        #expect(connection.canCarryAnotherRequest)
    }
}
