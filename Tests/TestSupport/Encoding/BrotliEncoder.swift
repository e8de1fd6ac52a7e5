import CBrotliEncoder

/// Makes bodies in the content coding br.
package enum BrotliEncoder {
    /// - Parameter windowBits: 10 to 24.
    package static func compress(_ bytes: [UInt8], quality: Int32 = 5, windowBits: Int32 = 22) -> [UInt8] {
        compress(pieces: [bytes], quality: quality, windowBits: windowBits).flatMap { $0 }
    }

    /// The encoded pieces: each can be decoded when it has arrived, and the last ends the stream.
    package static func compress(pieces: [[UInt8]], quality: Int32 = 5, windowBits: Int32 = 22) -> [[UInt8]] {
        let encoder = BrotliEncoderCreateInstance(nil, nil, nil)
        defer { BrotliEncoderDestroyInstance(encoder) }
        BrotliEncoderSetParameter(encoder, BROTLI_PARAM_QUALITY, UInt32(quality))
        BrotliEncoderSetParameter(encoder, BROTLI_PARAM_LGWIN, UInt32(windowBits))
        return pieces.indices.map { index in
            let isLast = index == pieces.count - 1
            return run(encoder, pieces[index], isLast ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_FLUSH)
        }
    }

    private static func run(
        _ encoder: OpaquePointer?, _ piece: [UInt8], _ operation: BrotliEncoderOperation
    ) -> [UInt8] {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        piece.withUnsafeBufferPointer { input in
            var next = input.baseAddress
            var unread = input.count
            repeat {
                let size = buffer.count
                var room = size
                buffer.withUnsafeMutableBufferPointer {
                    var place = $0.baseAddress
                    BrotliEncoderCompressStream(encoder, operation, &unread, &next, &room, &place, nil)
                }
                output += buffer[..<(size - room)]
            } while unread > 0 || BrotliEncoderHasMoreOutput(encoder) != 0
        }
        return output
    }
}
