import CLoadingKitZlib

/// Compresses the messages of one side (RFC 7692 §7.2.1). Of one owner.
final class MessageDeflater {
    /// A shorter message is sent as it is: what it could lose is less than what compressing costs.
    static let shortestMessage = 256

    /// Of the most speed: on the way between two machines the last tenth of the size costs more time than it saves.
    private static let level: Int32 = Z_BEST_SPEED
    private static let piece = 64 * 1024

    private let settings: PermessageDeflate.Direction
    private var stream = z_stream()
    private var isMade = false

    /// Nil where zlib cannot: it makes no window of 2⁸ bytes. Messages may always be sent as they are.
    init?(_ settings: PermessageDeflate.Direction) {
        guard settings.windowBits > 8 else { return nil }
        self.settings = settings
    }

    deinit { if isMade { deflateEnd(&stream) } }

    /// A message compressed; nil where that saves nothing.
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
            // What has been compressed before is compressed again by nothing.
            if output.count > position - position / 16 { return giveUp() }
        }
        // The end is left out, and put back by the reader.
        output.removeLast(min(4, output.count))
        if !settings.takesContextOver { deflateReset(&stream) }
        return output
    }

    /// What follows must not refer to a message that the other side does not get compressed.
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
