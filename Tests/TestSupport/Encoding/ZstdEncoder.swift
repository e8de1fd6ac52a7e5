import CLoadingKitZstd

/// Makes bodies in the content coding zstd.
package enum ZstdEncoder {
    package struct Settings: Sendable {
        package var level: Int32 = 3
        /// The window as a power of two; 0: the level's own.
        package var windowLog: Int32 = 0
        package var hasChecksum = false
        /// Whether the frame's head says how long its content is.
        package var saysSize = true

        package init() {}
    }

    /// One frame.
    package static func compress(_ bytes: [UInt8], _ change: (inout Settings) -> Void = { _ in }) -> [UInt8] {
        compress(pieces: [bytes], change).flatMap { $0 }
    }

    /// The encoded pieces: each can be decoded when it has arrived, and the last ends the frame.
    package static func compress(
        pieces: [[UInt8]], _ change: (inout Settings) -> Void = { _ in }
    ) -> [[UInt8]] {
        var settings = Settings()
        change(&settings)
        let encoder = ZSTD_createCCtx()
        defer { ZSTD_freeCCtx(encoder) }
        ZSTD_CCtx_setParameter(encoder, ZSTD_c_compressionLevel, settings.level)
        ZSTD_CCtx_setParameter(encoder, ZSTD_c_windowLog, settings.windowLog)
        ZSTD_CCtx_setParameter(encoder, ZSTD_c_checksumFlag, settings.hasChecksum ? 1 : 0)
        ZSTD_CCtx_setParameter(encoder, ZSTD_c_contentSizeFlag, settings.saysSize ? 1 : 0)
        if settings.saysSize { ZSTD_CCtx_setPledgedSrcSize(encoder, UInt64(pieces.reduce(0) { $0 + $1.count })) }
        return pieces.indices.map { index in
            run(encoder, pieces[index], index == pieces.count - 1 ? ZSTD_e_end : ZSTD_e_flush)
        }
    }

    /// A frame that decoders skip (RFC 8878 §3.1.2).
    package static func skippable(_ bytes: [UInt8], _ number: UInt8 = 0) -> [UInt8] {
        let count = UInt32(bytes.count)
        return [0x50 | number & 15, 0x2a, 0x4d, 0x18] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            + bytes
    }

    private static func run(_ encoder: OpaquePointer?, _ piece: [UInt8], _ end: ZSTD_EndDirective) -> [UInt8] {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        piece.withUnsafeBytes { input in
            var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
            var rest = 1
            while rest > 0 {
                let count = buffer.withUnsafeMutableBytes { bytes in
                    var room = ZSTD_outBuffer(dst: bytes.baseAddress, size: bytes.count, pos: 0)
                    rest = ZSTD_compressStream2(encoder, &room, &source, end)
                    return room.pos
                }
                output += buffer[..<count]
                if ZSTD_isError(rest) != 0 { return }
            }
        }
        return output
    }
}
