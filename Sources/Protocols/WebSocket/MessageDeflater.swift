import CLoadingKitZlib

/// Compresses the messages of one side (RFC 7692 §7.2.1). Must have one owner.
final class MessageDeflater {
    /// The size in bytes below which a message is sent uncompressed: compressing it would cost more than it saves.
    static let shortestMessage = 256

    /// The fastest level: on a network, the last tenth of the size costs more time than it saves.
    private static let level: Int32 = Z_BEST_SPEED
    private static let piece = 64 * 1024

    private let settings: PermessageDeflate.Direction
    private var stream = z_stream()
    private var isMade = false

    /// Nil if zlib does not support the settings: it has no window of 2⁸ bytes. A message may always be sent
    /// uncompressed.
    init?(_ settings: PermessageDeflate.Direction) {
        guard settings.windowBits > 8 else { return nil }
        self.settings = settings
    }

    deinit { if isMade { deflateEnd(&stream) } }

    /// Compresses a message. Returns nil if this saves nothing.
    func deflate(_ message: UnsafeRawBufferPointer) -> [UInt8]? {
        guard message.count >= Self.shortestMessage, make() else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(message.count / 2)
        var position = 0
        while position < message.count {
            let end = min(message.count, position + Self.piece)
            let isLast = end == message.count
            let piece = UnsafeRawBufferPointer(rebasing: message[position..<end])
            run(piece, isLast ? Z_SYNC_FLUSH : Z_NO_FLUSH, &output)
            position = end
            // Data that is already compressed cannot be compressed further.
            if output.count > position - position / 16 { return giveUp() }
        }
        // The tail is left out; the reader restores it.
        output.removeLast(min(4, output.count))
        if !settings.takesContextOver { deflateReset(&stream) }
        return output
    }

    /// The next message must not refer to a message that the other side did not receive compressed.
    private func giveUp() -> [UInt8]? {
        deflateReset(&stream)
        return nil
    }

    private func make() -> Bool {
        if isMade { return true }
        isMade =
            deflateInit2_(
                &stream, Self.level, Z_DEFLATED, Int32(-settings.windowBits), 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        return isMade
    }

    private func run(_ input: UnsafeRawBufferPointer, _ flush: Int32, _ output: inout [UInt8]) {
        stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.avail_in = UInt32(clamping: input.count)
        withUnsafeTemporaryAllocation(byteCount: Self.piece, alignment: 16) { room in
            repeat {
                stream.next_out = room.bindMemory(to: UInt8.self).baseAddress
                stream.avail_out = UInt32(clamping: room.count)
                _ = CLoadingKitZlib.deflate(&stream, flush)
                output.append(contentsOf: room.prefix(room.count - Int(stream.avail_out)))
            } while stream.avail_out == 0
        }
    }
}
