import CPeers

/// gzip decoded by zlib with nothing around it.
enum ZlibInflater {
    static let name = "zlib"

    /// Decodes a body that arrives in pieces; `take` gets what was decoded, piece by piece.
    static func decode(_ transmission: Transmission, _ take: (UnsafeRawBufferPointer) -> Void) throws {
        var stream = z_stream()
        // 16 more than the window's bits asks for gzip's header.
        let made = inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard made == Z_OK else { throw PeerError(name, Int(made)) }
        defer { inflateEnd(&stream) }
        try withUnsafeTemporaryAllocation(byteCount: GzipBody.outputBytes, alignment: 64) { output in
            try transmission.forEachPiece { piece in
                stream.next_in = UnsafeMutablePointer(mutating: piece.bindMemory(to: UInt8.self).baseAddress)
                stream.avail_in = UInt32(piece.count)
                while true {
                    let (count, hasMore) = try inflate(&stream, into: output)
                    take(UnsafeRawBufferPointer(rebasing: output[..<count]))
                    if !hasMore { return }
                }
            }
        }
    }

    private static func inflate(
        _ stream: inout z_stream, into output: UnsafeMutableRawBufferPointer
    ) throws -> (count: Int, hasMore: Bool) {
        stream.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.avail_out = UInt32(output.count)
        let code = CPeers.inflate(&stream, Z_NO_FLUSH)
        guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { throw PeerError(name, Int(code)) }
        let hasMore = code == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0)
        return (output.count - Int(stream.avail_out), hasMore)
    }
}
