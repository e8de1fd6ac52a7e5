import CLoadingKitZlib

/// Encodes the gzip format (RFC 1952) for responses.
package enum Gzip {
    /// An error of zlib, with its number.
    package struct CompressionError: Error, Sendable, Equatable {
        package var code: Int32
    }

    package static func compress(_ bytes: [UInt8], level: Int32 = 6) throws(CompressionError) -> [UInt8] {
        var stream = z_stream()
        // 16 added to the window bits selects gzip's header instead of zlib's.
        let code = deflateInit2_(
            &stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else { throw CompressionError(code: code) }
        defer { deflateEnd(&stream) }
        guard let count = UInt32(exactly: bytes.count) else { throw CompressionError(code: Z_BUF_ERROR) }
        var input = bytes
        return try input.withUnsafeMutableBufferPointer { input throws(CompressionError) in
            stream.next_in = input.baseAddress
            stream.avail_in = count
            return try finish(&stream)
        }
    }

    private static func finish(_ stream: inout z_stream) throws(CompressionError) -> [UInt8] {
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 32768)
        while true {
            let capacity = piece.count
            let code = piece.withUnsafeMutableBufferPointer { room in
                stream.next_out = room.baseAddress
                stream.avail_out = UInt32(truncatingIfNeeded: room.count)
                return deflate(&stream, Z_FINISH)
            }
            output += piece.prefix(capacity - Int(stream.avail_out))
            switch code {
            case Z_STREAM_END: return output
            case Z_OK: continue
            default: throw CompressionError(code: code)
            }
        }
    }
}
