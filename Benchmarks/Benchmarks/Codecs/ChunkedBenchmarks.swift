import CPeers

/// Whole responses with chunked bodies, heads included, against picohttpparser and llhttp.
///
/// picohttpparser moves the body's bytes together, in place; so all read from a fresh copy, and LoadingKit is measured
/// with such moving too. Otherwise it and llhttp say where the bytes are.
enum ChunkedBenchmarks {
    static func register() throws {
        try compare("1,000 chunks of 64 B", ChunkedResponse(chunks: 1000, bytesEach: 64))
        try compare("100 chunks of 1 KiB", ChunkedResponse(chunks: 100, bytesEach: 1024))
        try compare("8 chunks of 32 KiB", ChunkedResponse(chunks: 8, bytesEach: 32 * 1024))
    }

    private static func compare(_ name: String, _ response: ChunkedResponse) throws {
        let ours = ChunkedReader(response)
        let gathering = ChunkedReader(response)
        let phr = ReceiveBuffer(response.bytes)
        let llhttp = try LLHTTP(.responses)
        let copy = ReceiveBuffer(response.bytes)
        Comparison(
            subject: .chunked, name: name, unit: "ns a KiB", amount: Double(response.body.count) / 1024,
            contenders: [
                .ours { try ours.bodyBytes() },
                Contender("LoadingKit, gathering") { try gathering.gatheredBodyBytes() },
                Contender(PicoHTTPParser.name) { try phrBody(phr).count },
                Contender(LLHTTP.name) {
                    let before = llhttp.counts.body
                    try llhttp.read(UnsafeRawBufferPointer(copy.receive()))
                    return llhttp.counts.body - before
                },
            ],
            verify: {
                try Disagreement.check(
                    "LoadingKit's body, and what was sent", Array(gathering.gatheredBody()), response.body)
                try Disagreement.check("picohttpparser's body, and what was sent", Array(phrBody(phr)), response.body)
            }
        ).register()
    }

    private static func phrBody(_ buffer: ReceiveBuffer) throws -> UnsafeMutableRawBufferPointer {
        let bytes = buffer.receive()
        guard let head = try PicoHTTPParser.response(UnsafeRawBufferPointer(bytes)) else {
            throw PeerError(PicoHTTPParser.name, -2)
        }
        let body = UnsafeMutableRawBufferPointer(rebasing: bytes[head.bytes...])
        return UnsafeMutableRawBufferPointer(rebasing: body[..<(try PicoHTTPParser.decodeChunked(body))])
    }
}
