import CPeers

/// picohttpparser, which validates less than LoadingKit, knows no field's name and copies nothing.
enum PicoHTTPParser {
    static let name = "picohttpparser"

    /// The bytes of a head, and its fields; nil while it is incomplete.
    typealias Head = (bytes: Int, fields: Int)

    private static let headerCapacity = 100

    /// Reads the head of a response; `seen` of its bytes were there with the call before, which found it incomplete.
    static func response(_ bytes: UnsafeRawBufferPointer, seen: Int = 0) throws -> Head? {
        var (version, status, messageLength) = (Int32(0), Int32(0), 0)
        var message: UnsafePointer<CChar>?
        return try withHeaders { headers, count in
            phr_parse_response(
                characters(bytes), bytes.count, &version, &status, &message, &messageLength, headers, &count, seen)
        }
    }

    static func request(_ bytes: UnsafeRawBufferPointer) throws -> Head? {
        var (version, methodLength, pathLength) = (Int32(0), 0, 0)
        var method: UnsafePointer<CChar>?
        var path: UnsafePointer<CChar>?
        return try withHeaders { headers, count in
            phr_parse_request(
                characters(bytes), bytes.count, &method, &methodLength, &path, &pathLength, &version, headers, &count, 0
            )
        }
    }

    /// Decodes a whole chunked body in place, and gives its length.
    static func decodeChunked(_ bytes: UnsafeMutableRawBufferPointer) throws -> Int {
        var decoder = phr_chunked_decoder()
        decoder.consume_trailer = 1
        var count = bytes.count
        let result = phr_decode_chunked(&decoder, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), &count)
        guard result >= 0 else { throw PeerError(name, result) }
        return count
    }

    @inline(__always)
    private static func withHeaders(
        _ parse: (UnsafeMutablePointer<phr_header>?, inout Int) -> Int32
    ) throws -> Head? {
        try withUnsafeTemporaryAllocation(of: phr_header.self, capacity: headerCapacity) { headers in
            var count = headerCapacity
            let result = parse(headers.baseAddress, &count)
            if result == -2 { return nil }
            guard result > 0 else { throw PeerError(name, Int(result)) }
            return (Int(result), count)
        }
    }

    private static func characters(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<CChar>? {
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    }
}
