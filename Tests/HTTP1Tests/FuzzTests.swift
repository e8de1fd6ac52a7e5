import LoadingKitHTTP1
import TestSupport
import Testing

/// Damaged messages: each is accepted or refused with an error, and the same however it is divided.
@Suite struct FuzzTests {
    static let requests = [
        "GET /a?b HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nCookie: a=b; c=d\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.0\r\n\r\n",
        "PUT http://h/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: 1\r\n\r\n",
        "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n",
    ]
    static let responses = [
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 204 No\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n",
        "HTTP/1.0 301\r\nLocation: /a\r\n folded\r\nX : y\n\nuntil close",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nother",
        "HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\nConnection: close\r\n\r\nabc",
    ]

    /// Names and values that end at every place of the blocks of 64 bytes that lines are read in, some longer than one.
    private static let longLines: String = {
        let lines = [0, 1, 20, 40, 62, 63, 64, 65, 130].map { length in
            let name = "Content_\(length).\(String(repeating: "x", count: length))"
            return
                "\(name):\(length.isMultiple(of: 2) ? "" : " ")\(String(repeating: "v\u{e9}", count: length / 2))\r\n"
        }
        return "HTTP/1.1 200 OK\r\n\(lines.joined())Content-Length: 0\r\n\r\n"
    }()

    /// Pieces that are more likely than random bytes to matter.
    static let pieces: [String] = [
        "\r\n", "\n", "\r", "\0", " ", "\t", ":", ";", ",", "0", "1", "ffffffffffffffff", "HTTP/1.1 ", "chunked",
        "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "Connection: close\r\n", "\r\n\r\n", "\u{e9}", "-",
    ]

    @Test(arguments: 0..<4)
    func damagedResponses(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<500 {
            let method = ["GET", "HEAD", "CONNECT"].randomElement(using: &random) ?? "GET"
            check(responseParser(to: method), damaged(Self.responses, &random), &random)
        }
    }

    @Test(arguments: 0..<4)
    func damagedLongLines(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) + 4000)
        for _ in 0..<40 { check(ResponseParser(), damaged([Self.longLines], &random), &random) }
    }

    /// More lines than are read in one go.
    @Test func manyLines() {
        let lines = (0..<60).map { "X-\($0): \(String(repeating: "v", count: 100))\r\n" }
        let input = "HTTP/1.1 200 OK\r\n\(lines.joined())Content-Length: 0\r\n\r\n"
        let whole = Transcript(ResponseParser(), Array(input.utf8))
        #expect(whole.error == nil && whole.consumed == input.utf8.count)
        #expect(whole == Transcript(ResponseParser(), Array(input.utf8), cuts: Array(0..<input.utf8.count)))
    }

    @Test(arguments: 0..<4)
    func damagedRequests(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) + 1000)
        for _ in 0..<500 { check(RequestParser(), damaged(Self.requests, &random), &random) }
    }

    /// Small limits are met at every place of a message.
    @Test(arguments: 0..<2)
    func smallLimits(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) + 2000)
        for _ in 0..<500 {
            var limits = HTTP1Limits()
            limits.headBytes = Int.random(in: 0...120, using: &random)
            limits.fieldCount = Int.random(in: 0...4, using: &random)
            limits.startLineBytes = Int.random(in: 0...40, using: &random)
            limits.chunkExtensionBytes = Int.random(in: 0...3, using: &random)
            limits.leadingEmptyLineBytes = Int.random(in: 0...3, using: &random)
            limits.interimResponses = Int.random(in: 0...1, using: &random)
            check(responseParser(limits: limits), damaged(Self.responses, &random), &random)
            check(RequestParser(limits: limits), damaged(Self.requests, &random), &random)
        }
    }

    @Test(arguments: 0..<2)
    func damagedConnections(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed) + 3000)
        for _ in 0..<500 {
            var connection = ClientConnection()
            var output: [UInt8] = []
            try connection.sendRequest(
                method: "GET", target: "/", fields: HTTPFields(), framing: .none, into: &output)
            var input = damaged(Self.responses, &random)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let method = ["GET", "HEAD"].randomElement(using: &random) ?? ""
                try connection.sendAhead(method: method, target: "/", fields: HTTPFields(), into: &output)
                input += damaged(Self.responses, &random)
            }
            check(connection, input, &random)
        }
    }

    private func damaged(_ messages: [String], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array((messages.randomElement(using: &random) ?? "").utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 0...4, using: &random))
            switch Int.random(in: 0...3, using: &random) {
            case 0: bytes.insert(contentsOf: Array((Self.pieces.randomElement(using: &random) ?? "").utf8), at: place)
            case 1: bytes.replaceSubrange(place..<end, with: [UInt8.random(in: 0...255, using: &random)])
            case 2: bytes.removeSubrange(place..<end)
            default: bytes.insert(contentsOf: bytes[place..<end], at: place)
            }
        }
        return bytes
    }

    private func check(_ parser: some TestableParser, _ input: [UInt8], _ random: inout SeededGenerator) {
        let whole = Transcript(parser, input, isClosed: true)
        let cuts = (0..<Int.random(in: 1...6, using: &random)).map { _ in
            Int.random(in: 0...input.count, using: &random)
        }
        let divided = Transcript(parser, input, cuts: cuts.sorted(), isClosed: true)
        let single = Transcript(parser, input, cuts: Array(input.indices), isClosed: true)
        let isSame = whole == divided && whole == single
        #expect(
            isSame,
            "\(String(decoding: input, as: UTF8.self).debugDescription) at \(cuts): \(whole)\n\(divided)\n\(single)")
    }
}
