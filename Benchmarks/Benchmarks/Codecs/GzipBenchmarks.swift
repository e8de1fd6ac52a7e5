import LoadingKitContentCoding

/// Decoding gzip, as it arrives in pieces of 16 KiB, against calls of zlib itself.
enum GzipBenchmarks {
    static func register() throws {
        try compare("JSON of 2 KiB", GzipBody(items: 15))
        try compare("JSON of 200 KiB", GzipBody(items: 1500))
    }

    private static func compare(_ name: String, _ body: GzipBody) throws {
        let transmission = Transmission(body.compressed, pieces: body.compressed.count / 16_384 + 1)
        Comparison(
            subject: .gzip, name: name, unit: "ns a KiB", amount: Double(body.plain.count) / 1024,
            contenders: [
                .ours { try bytes(transmission, decode) },
                Contender(ZlibInflater.name) { try bytes(transmission, ZlibInflater.decode) },
            ],
            verify: {
                try Disagreement.check(
                    "LoadingKit's body, and what was compressed", content(transmission, decode), body.plain)
                try Disagreement.check(
                    "zlib's body, and what was compressed", content(transmission, ZlibInflater.decode), body.plain)
            }
        ).register()
    }

    private static func decode(_ transmission: Transmission, _ take: (UnsafeRawBufferPointer) -> Void) throws {
        guard let decoder = ContentDecoder(contentEncoding: "gzip") else { throw Disagreement("gzip is not known") }
        try withUnsafeTemporaryAllocation(byteCount: GzipBody.outputBytes, alignment: 64) { output in
            try transmission.forEachPiece { piece in
                var position = 0
                while true {
                    let count = try decoder.decode(piece, position: &position, into: output)
                    if count == 0 { return }
                    take(UnsafeRawBufferPointer(rebasing: output[..<count]))
                }
            }
        }
        try decoder.finish()
    }

    private typealias Decoding = (Transmission, (UnsafeRawBufferPointer) -> Void) throws -> Void

    private static func bytes(_ transmission: Transmission, _ decode: Decoding) throws -> Int {
        var count = 0
        try decode(transmission) { count += $0.count }
        return count
    }

    private static func content(_ transmission: Transmission, _ decode: Decoding) throws -> [UInt8] {
        var content: [UInt8] = []
        try decode(transmission) { content.append(contentsOf: $0) }
        return content
    }
}
