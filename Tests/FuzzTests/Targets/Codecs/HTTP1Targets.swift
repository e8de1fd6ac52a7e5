import LoadingKitHTTP1

enum HTTP1Targets {
    static let all = [
        FuzzTarget("http1-response", response), FuzzTarget("http1-request", request),
        FuzzTarget("http1-chunks", chunks), FuzzTarget("http1-connection", connection),
    ]

    /// The first bytes choose the request's method, small limits and the pieces.
    @Sendable private static func response(_ input: inout FuzzInput) throws {
        let choices = input.byte()
        let cuts = input.cuts()
        var parser = ResponseParser(limits: limits(isSmall: choices & 4 != 0))
        parser.expect(method: ["GET", "HEAD", "CONNECT", "POST"][Int(choices & 3)])
        let whole = try compare(parser, input.rest(), cuts)
        for case .event(.head(let head, _)) in whole.entries { try writeAndRead(head) }
    }

    @Sendable private static func request(_ input: inout FuzzInput) throws {
        let choices = input.byte()
        let cuts = input.cuts()
        let whole = try compare(RequestParser(limits: limits(isSmall: choices & 4 != 0)), input.rest(), cuts)
        for case .event(.head(let head, let framing)) in whole.entries { try writeAndRead(head, framing) }
    }

    /// The input is the body alone.
    @Sendable private static func chunks(_ input: inout FuzzInput) throws {
        let choices = input.byte()
        let cuts = input.cuts()
        let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        _ = try compare(ResponseParser(limits: limits(isSmall: choices & 4 != 0)), head + input.rest(), cuts)
    }

    /// A client's connection with requests sent ahead, their bodies, and the bytes that the server sends.
    @Sendable private static func connection(_ input: inout FuzzInput) throws {
        let choices = input.byte()
        let cuts = input.cuts()
        var connection = ClientConnection(limits: limits(isSmall: choices & 4 != 0))
        var output: [UInt8] = []
        let methods = ["GET", "HEAD", "CONNECT", "POST"]
        let framings: [RequestBodyFraming] = [.none, .length(3), .chunked, .length(.max)]
        try? connection.sendRequest(
            method: methods[Int(choices & 3)], target: "/", fields: HTTPFields(),
            framing: framings[Int(choices >> 4 & 3)], into: &output)
        if choices & 8 != 0 {
            var suffix: [UInt8] = []
            try? connection.sendBody(input.number(below: 5), before: &output, after: &suffix)
            try? connection.finishBody(into: &output)
        }
        for _ in 0..<(choices >> 6) {
            try? connection.sendAhead(
                method: methods[input.number(below: 2)], target: "/", fields: HTTPFields(), into: &output)
        }
        _ = try compare(connection, input.rest(), cuts)
    }

    private static func limits(isSmall: Bool) -> HTTP1Limits {
        var limits = HTTP1Limits()
        guard isSmall else { return limits }
        limits.headBytes = 200
        limits.fieldCount = 4
        limits.startLineBytes = 40
        limits.chunkExtensionBytes = 5
        limits.leadingEmptyLineBytes = 3
        limits.interimResponses = 2
        return limits
    }

    /// What the writer accepts of a head that was read is read as the same head.
    private static func writeAndRead(_ head: ResponseHead) throws {
        var bytes: [UInt8] = []
        do throws(HTTP1Error) { try ResponseWriter().write(head, into: &bytes) } catch { return }
        var parser = ResponseParser()
        parser.expect(method: "HEAD")
        let again = transcript(parser, [bytes])
        guard case .event(.head(let second, _))? = again.entries.first else {
            // An interim response, or a field with the framing of a head's end.
            return try require(again.failure != nil || head.status < 200, "a written head gives \(again)")
        }
        try require(second == head, "\(head) is read as \(second)")
    }

    private static func writeAndRead(_ head: RequestHead, _ framing: BodyFraming) throws {
        var bytes: [UInt8] = []
        do throws(HTTP1Error) {
            try RequestWriter().writeHead(
                method: head.method, target: head.target, version: head.version, fields: head.fields, into: &bytes)
        } catch {
            return
        }
        let again = transcript(RequestParser(), [bytes])
        guard case .event(.head(let second, let secondFraming))? = again.entries.first else {
            throw BrokenContract(description: "a written head gives \(again)")
        }
        try require(second == head && framing == secondFraming, "\(head) is read as \(second)")
    }

    private static func compare<Parser: MessageParser>(
        _ parser: Parser, _ bytes: [UInt8], _ cuts: Cuts
    ) throws -> BodyTranscript<Parser.Event, HTTP1Error> {
        let whole = transcript(parser, [bytes])
        try requireEqual(whole, transcript(parser, cuts.pieces(of: bytes)), "whole and in pieces")
        return whole
    }

    private static func transcript<Parser: MessageParser>(
        _ parser: Parser, _ pieces: [[UInt8]]
    ) -> BodyTranscript<Parser.Event, HTTP1Error> {
        var parser = parser
        var transcript = BodyTranscript<Parser.Event, HTTP1Error>()
        do throws(HTTP1Error) {
            for piece in pieces { try read(&parser, piece, &transcript) }
            if let event = try parser.finish() { transcript.append(event) }
        } catch {
            transcript.failure = error
        }
        return transcript
    }

    private static func read<Parser: MessageParser>(
        _ parser: inout Parser, _ piece: [UInt8], _ transcript: inout BodyTranscript<Parser.Event, HTTP1Error>
    ) throws(HTTP1Error) {
        try piece.withBytes { (bytes) throws(HTTP1Error) in
            var position = 0
            while let event = try parser.next(bytes, &position) {
                if let range = Parser.body(event) {
                    transcript.append(body: bytes[range])
                } else {
                    transcript.append(event)
                }
            }
        }
    }
}

/// A parser of messages, with the kind of event that has bytes of a body.
private protocol MessageParser {
    associatedtype Event: Equatable
    mutating func next(_ input: UnsafeRawBufferPointer, _ position: inout Int) throws(HTTP1Error) -> Event?
    mutating func finish() throws(HTTP1Error) -> Event?
    static func body(_ event: Event) -> Range<Int>?
}

extension ResponseParser: MessageParser {
    static func body(_ event: Event) -> Range<Int>? { if case .body(let range) = event { range } else { nil } }
}

extension ClientConnection: MessageParser {
    static func body(_ event: ResponseParser.Event) -> Range<Int>? { ResponseParser.body(event) }
}

extension RequestParser: MessageParser {
    static func body(_ event: Event) -> Range<Int>? { if case .body(let range) = event { range } else { nil } }
}
