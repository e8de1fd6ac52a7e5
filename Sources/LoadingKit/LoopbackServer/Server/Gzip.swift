import CLoadingKitZlib

/// Encodes responses in the formats of gzip (RFC 1952) and zlib (RFC 1950).
package enum Gzip {
    package enum Format: Sendable {
        case gzip, zlib
    }

    /// An error of zlib, with its number.
    package struct CompressionError: Error, Sendable, Equatable {
        package var code: Int32
    }

    package static func compress(
        _ bytes: [UInt8], level: Int32 = 6, format: Format = .gzip
    ) throws(CompressionError) -> [UInt8] {
        var stream = z_stream()
        // 16 added to the window bits selects gzip's header instead of zlib's.
        var code = deflateInit2_(
            &stream, level, Z_DEFLATED, format == .gzip ? 15 + 16 : 15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else { throw CompressionError(code: code) }
        defer { deflateEnd(&stream) }
        let bound = deflateBound(&stream, UInt(bytes.count))
        guard let count = UInt32(exactly: bytes.count), let room = UInt32(exactly: bound) else {
            throw CompressionError(code: Z_BUF_ERROR)
        }
        var input = bytes
        let output = input.withUnsafeMutableBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: Int(room)) { output, written in
                (stream.next_in, stream.avail_in) = (input.baseAddress, count)
                (stream.next_out, stream.avail_out) = (output.baseAddress, room)
                code = deflate(&stream, Z_FINISH)
                written = Int(room - stream.avail_out)
            }
        }
        guard code == Z_STREAM_END else { throw CompressionError(code: code) }
        return output
    }
}
