import LoadingKitContentCoding

enum ContentCodingTargets {
    static let all = [
        FuzzTarget("gzip") { try decode("gzip", &$0) }, FuzzTarget("deflate") { try decode("deflate", &$0) },
        FuzzTarget("brotli") { try decode("br", &$0) }, FuzzTarget("zstd") { try decode("zstd", &$0) },
        FuzzTarget("codings") { input in
            let codings = ["deflate, gzip", "gzip, br", "zstd, gzip", "gzip, gzip, deflate"]
            try decode(codings[input.number(below: codings.count)], &input)
        },
    ]

    private enum Outcome: Equatable {
        case decoded([UInt8])
        case failed(ContentCodingError)
    }

    /// A body in one coding or several, decoded whole and in pieces with little room.
    private static func decode(_ codings: String, _ input: inout FuzzInput) throws {
        let cuts = input.cuts()
        let room = Int(input.byte()) + 1
        let bytes = input.rest()
        guard let whole = try outcome(codings, [bytes], room: 4096) else { return }
        guard let divided = try outcome(codings, cuts.pieces(of: bytes), room: room) else { return }
        if case (.failed(let first), .failed(let second)) = (whole, divided), maySwap(first, second, codings) { return }
        try require(whole == divided, "\(whole) and \(divided)")
    }

    /// libbrotlidec and libzstd keep bytes back before an error, more of them if they have them at once. Of two layers
    /// either may then fail first; and a body that both expands too far and is corrupt may be refused for either.
    private static func maySwap(_ first: ContentCodingError, _ second: ContentCodingError, _ codings: String) -> Bool {
        if codings.contains(",") { return true }
        let isBounded = [first, second].contains { if case .expandsTooFar = $0.kind { true } else { false } }
        return isBounded && (codings == "br" || codings == "zstd")
    }

    private static func outcome(_ codings: String, _ pieces: [[UInt8]], room: Int) throws -> Outcome? {
        var limits = DecompressionLimits()
        (limits.minimumSize, limits.ratio) = (64 << 10, 4)
        guard let decoder = ContentDecoder(contentEncoding: codings, limits: limits) else { return nil }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: room)
        do {
            for piece in pieces { try decode(decoder, piece, &buffer, &output) }
            try decoder.finish()
        } catch let error as ContentCodingError {
            return .failed(error)
        }
        let length = pieces.reduce(0) { $0 + $1.count }
        let blocks = max(1, (length + 16383) / 16384)
        try require(output.count < limits.ratio * (blocks * 16384 + 1), "the body expands too far")
        return .decoded(output)
    }

    private static func decode(
        _ decoder: ContentDecoder, _ piece: [UInt8], _ buffer: inout [UInt8], _ output: inout [UInt8]
    ) throws {
        try piece.withUnsafeBytes { input in
            var position = 0
            while true {
                let count = try buffer.withUnsafeMutableBytes {
                    try decoder.decode(input, position: &position, into: $0)
                }
                try require((0...buffer.count).contains(count), "\(count) bytes in a room of \(buffer.count)")
                if count == 0 { break }
                output += buffer[..<count]
            }
            try requireEqual(position, input.count, "bytes read, and bytes of the piece")
        }
    }
}
