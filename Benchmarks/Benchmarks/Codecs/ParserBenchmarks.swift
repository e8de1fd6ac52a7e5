import LoadingKitHTTP1

/// Heads of HTTP/1.1 messages against picohttpparser and llhttp.
enum ParserBenchmarks {
    static func register() throws {
        try response("240 B", Transmission(Heads.nginx))
        try response("1,085 B", Transmission(Heads.network))
        try response("30 fields with long cookies", Transmission(Heads.cookies))
        try response("1,085 B in 3 pieces", Transmission(Heads.network, pieces: 3))
        try response("1,085 B in 64 pieces", Transmission(Heads.network, pieces: 64))
        try pipelined(count: 200)
        try request()
    }

    private static func response(_ name: String, _ transmission: Transmission) throws {
        let ours = ResponseReader(transmission, method: "HEAD")
        let llhttp = try LLHTTP(.responsesToHEAD)
        Comparison(
            subject: .parser, name: "response head, \(name)",
            contenders: [
                .ours { try ours.fields() },
                Contender(PicoHTTPParser.name) { try phrFields(growing: transmission) },
                Contender(LLHTTP.name) { try fields(transmission, with: llhttp) },
            ]
        ).register()
    }

    private static func pipelined(count: Int) throws {
        let transmission = Transmission([[UInt8]](repeating: Heads.tiny, count: count).flatMap { $0 })
        let ours = ResponseReader(transmission, method: "GET")
        let llhttp = try LLHTTP(.responses)
        Comparison(
            subject: .parser, name: "response heads, \(count) pipelined, 38 B each", unit: "ns a head",
            amount: Double(count),
            contenders: [
                .ours { try ours.fields() },
                Contender(PicoHTTPParser.name) { try phrFields(pipelined: transmission) },
                Contender(LLHTTP.name) { try fields(transmission, with: llhttp) },
            ]
        ).register()
    }

    private static func request() throws {
        let transmission = Transmission(Heads.request)
        let ours = RequestReader(transmission)
        let llhttp = try LLHTTP(.requests)
        Comparison(
            subject: .parser, name: "request head, a browser's",
            contenders: [
                .ours { try ours.fields() },
                Contender(PicoHTTPParser.name) {
                    try transmission.bytes.withUnsafeBytes { try PicoHTTPParser.request($0)?.fields ?? 0 }
                },
                Contender(LLHTTP.name) { try fields(transmission, with: llhttp) },
            ]
        ).register()
    }

    /// picohttpparser wants all that came of a head, each time that more of it comes.
    private static func phrFields(growing transmission: Transmission) throws -> Int {
        try transmission.bytes.withUnsafeBytes { bytes in
            for piece in transmission.pieces {
                let come = UnsafeRawBufferPointer(rebasing: bytes[..<piece.upperBound])
                if let head = try PicoHTTPParser.response(come, seen: piece.lowerBound) { return head.fields }
            }
            return 0
        }
    }

    private static func phrFields(pipelined transmission: Transmission) throws -> Int {
        try transmission.bytes.withUnsafeBytes { bytes in
            var (sum, rest) = (0, bytes)
            while let head = try PicoHTTPParser.response(rest) {
                sum += head.fields
                rest = UnsafeRawBufferPointer(rebasing: rest[head.bytes...])
                if rest.isEmpty { break }
            }
            return sum
        }
    }

    private static func fields(_ transmission: Transmission, with llhttp: LLHTTP) throws -> Int {
        let before = llhttp.counts.fields
        try transmission.forEachPiece { try llhttp.read($0) }
        return llhttp.counts.fields - before
    }
}
