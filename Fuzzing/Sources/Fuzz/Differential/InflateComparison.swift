import CPeers
import LoadingKitContentCoding

/// Bodies in gzip and deflate, decoded by LoadingKit and by zlib's own functions.
enum InflateComparison {
    static let all = [
        FuzzTarget("zlib-gzip") { input in
            try compare(body(&input), "gzip", [31])
        },
        // The coding deflate is a zlib stream; servers also send it without zlib's header (RFC 9110 §8.4.1.2).
        FuzzTarget("zlib-deflate") { input in
            try compare(body(&input), "deflate", [15, -15])
        },
    ]

    private static let limit = 1 << 20

    /// The input without the bytes that choose pieces and room in the targets whose corpora these have.
    private static func body(_ input: inout FuzzInput) -> [UInt8] {
        _ = input.take(3)
        return input.rest()
    }

    private static func compare(_ bytes: [UInt8], _ coding: String, _ windowBits: [Int32]) throws {
        let own: [UInt8]?
        do {
            own = try decode(bytes, coding)
        } catch let error as ContentCodingError {
            if case .expandsTooFar = error.kind { return }
            own = nil
        }
        let streams = windowBits.map { inflate(bytes, $0) }
        if let stream = streams.first(where: { $0.result == 1 && $0.used == bytes.count }) {
            try require(own == stream.output, "zlib reads \(stream.output.count) bytes, LoadingKit \(own?.count ?? -1)")
        }
        guard let own, !bytes.isEmpty else { return }
        // Other bytes, or another member, may follow the first stream.
        try require(
            streams.contains { $0.result == 1 && own.starts(with: $0.output) },
            "LoadingKit reads \(own.count) bytes, zlib fails with \(streams.map(\.result))")
    }

    private static func inflate(_ bytes: [UInt8], _ windowBits: Int32) -> (result: Int32, output: [UInt8], used: Int) {
        var output = peer_bytes()
        var used = 0
        let result = peer_inflate(bytes, bytes.count, windowBits, 4 * limit, &output, &used)
        return (result, output.take(), used)
    }

    private static func decode(_ bytes: [UInt8], _ coding: String) throws -> [UInt8] {
        var limits = DecompressionLimits()
        limits.minimumSize = limit
        guard let decoder = ContentDecoder(contentEncoding: coding, limits: limits) else { return [] }
        var output: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4096)
        try bytes.withUnsafeBytes { input in
            var position = 0
            while true {
                let count = try room.withUnsafeMutableBytes { try decoder.decode(input, position: &position, into: $0) }
                if count == 0 { break }
                output += room[..<count]
            }
        }
        try decoder.finish()
        return output
    }
}
