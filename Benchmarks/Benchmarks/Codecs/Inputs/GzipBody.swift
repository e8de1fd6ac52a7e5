import CPeers

/// A body as an API answers it, and what gzip makes of it.
struct GzipBody {
    /// How much is decoded at a time.
    static let outputBytes = 16_384

    let plain: [UInt8]
    let compressed: [UInt8]

    init(items: Int) throws {
        plain = Array("[\((0..<items).map(Self.item).joined(separator: ","))]".utf8)
        compressed = try Self.gzip(plain)
    }

    private static func item(_ number: Int) -> String {
        // Numbers that do not repeat, as identifiers do not.
        let hash = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        return """
            {"id":"\(String(hash, radix: 16))","name":"Item \(number)","price":\(hash % 10_000),"tags":["new","sale"],\
            "description":"Number \(number) of many, in stock in \(hash >> 60) places."}
            """
    }

    private static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        var stream = z_stream()
        // 16 more than the window's bits asks for gzip's header.
        let made = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard made == Z_OK else { throw PeerError(ZlibInflater.name, Int(made)) }
        defer { deflateEnd(&stream) }
        var (input, output) = (bytes, [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count)))))
        let result = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                return deflate(&stream, Z_FINISH)
            }
        }
        guard result == Z_STREAM_END else { throw PeerError(ZlibInflater.name, Int(result)) }
        return Array(output.prefix(Int(stream.total_out)))
    }
}
