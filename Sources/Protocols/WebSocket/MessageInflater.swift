import CLoadingKitZlib

/// Decompresses the messages of one side (RFC 7692 §7.2.2). Must have one owner.
final class MessageInflater {
    /// The tail of a compressed message, which the sender leaves out.
    private static let tail: [UInt8] = [0x00, 0x00, 0xff, 0xff]
    /// The buffer for a piece of output: first a few times the input's size, so that a short message takes little
    /// memory, then this number of bytes.
    private static let piece = 16 * 1024
    private static let smallestPiece = 64

    private let settings: PermessageDeflate.Direction
    private var stream = z_stream()
    private var isMade = false
    /// Whether the last byte ended a final block, which some senders produce. Other blocks may follow (§7.2.3.4).
    private var isBehindLastBlock = false

    init(_ settings: PermessageDeflate.Direction) { self.settings = settings }

    deinit { if isMade { inflateEnd(&stream) } }

    /// Decompresses a part of a message. The message may have at most `limit` bytes.
    func inflate(
        _ input: UnsafeRawBufferPointer, into payload: WebSocketPayload, limit: Int
    ) throws(WebSocketError) {
        try make()
        var rest = input[...]
        while !rest.isEmpty {
            let given = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
            try run(given, payload, limit)
            rest = rest.dropFirst(given.count)
        }
    }

    /// All of the message was received.
    func finish(into payload: WebSocketPayload, limit: Int) throws(WebSocketError) {
        try make()
        if !isBehindLastBlock {
            let result = Self.tail.withUnsafeBytes { tail in
                Result { () throws(WebSocketError) in try run(tail, payload, limit) }
            }
            try result.get()
        }
        if !settings.takesContextOver { inflateReset(&stream) }
        isBehindLastBlock = false
    }

    private func make() throws(WebSocketError) {
        if isMade { return }
        let bits = Int32(-settings.windowBits)
        guard inflateInit2_(&stream, bits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw WebSocketError(.outOfMemory)
        }
        isMade = true
    }

    private func run(
        _ input: UnsafeRawBufferPointer, _ payload: WebSocketPayload, _ limit: Int
    ) throws(WebSocketError) {
        stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.avail_in = UInt32(clamping: input.count)
        isBehindLastBlock = false
        var wanted = min(Self.piece, max(Self.smallestPiece, input.count &* 4))
        repeat {
            let room = try payload.room(wanted)
            wanted = Self.piece
            let given = UInt32(clamping: room.count)
            stream.next_out = room.bindMemory(to: UInt8.self).baseAddress
            stream.avail_out = given
            let code = CLoadingKitZlib.inflate(&stream, Z_SYNC_FLUSH)
            payload.filled(Int(given - stream.avail_out))
            guard payload.count <= limit else { throw WebSocketError(.messageTooBig(limit: limit)) }
            switch code {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END:
                // Later blocks can still refer to the data before.
                inflateResetKeep(&stream)
                isBehindLastBlock = stream.avail_in == 0
            case Z_MEM_ERROR: throw WebSocketError(.outOfMemory)
            case _:
                throw WebSocketError(.corruptCompression(stream.msg.map { String(cString: $0) } ?? "zlib \(code)"))
            }
        } while stream.avail_in > 0 || stream.avail_out == 0 && !isBehindLastBlock
    }
}
