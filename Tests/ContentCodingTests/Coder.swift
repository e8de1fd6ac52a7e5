import CLoadingKitZlib

/// Makes what the decoder undoes.
enum Coder {
    /// The formats by zlib's own numbers for them.
    enum Format: Int32, CaseIterable {
        case zlib = 15
        case raw = -15
        case gzip = 31

        /// The name that the decoder knows it by.
        var coding: String { self == .gzip ? "gzip" : "deflate" }
    }

    static func compress(_ bytes: [UInt8], _ format: Format, level: Int32 = 9) -> [UInt8] {
        var output: [UInt8] = []
        compress([bytes], format, level: level) { output += $0 }
        return output
    }

    /// In pieces, so that neither side of a large body is ever held whole.
    static func compress(
        _ pieces: some Sequence<[UInt8]>, _ format: Format, level: Int32 = 9, _ emit: (ArraySlice<UInt8>) -> Void
    ) {
        var stream = z_stream()
        deflateInit2_(
            &stream, level, Z_DEFLATED, format.rawValue, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        for piece in pieces { run(&stream, piece, Z_NO_FLUSH, emit) }
        run(&stream, [], Z_FINISH, emit)
        deflateEnd(&stream)
    }

    /// A piece of raw deflate that ends at a byte's boundary and needs nothing before it, so that it can be repeated.
    static func flushed(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        var output: [UInt8] = []
        deflateInit2_(
            &stream, 9, Z_DEFLATED, Format.raw.rawValue, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        run(&stream, bytes, Z_FULL_FLUSH) { output += $0 }
        deflateEnd(&stream)
        return output
    }

    private static func run(
        _ stream: inout z_stream, _ piece: [UInt8], _ flush: Int32, _ emit: (ArraySlice<UInt8>) -> Void
    ) {
        var piece = piece
        var room = [UInt8](repeating: 0, count: 64 * 1024)
        let size = UInt32(room.count)
        piece.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            repeat {
                room.withUnsafeMutableBufferPointer {
                    stream.next_out = $0.baseAddress
                    stream.avail_out = size
                    deflate(&stream, flush)
                }
                emit(room[..<Int(size - stream.avail_out)])
            } while stream.avail_out == 0
        }
    }

    /// The optional parts of a gzip member's header (RFC 1952 §2.3.1).
    struct HeaderParts: OptionSet, CustomStringConvertible {
        let rawValue: UInt8
        static let text = HeaderParts(rawValue: 1)
        static let checksum = HeaderParts(rawValue: 2)
        static let extra = HeaderParts(rawValue: 4)
        static let name = HeaderParts(rawValue: 8)
        static let comment = HeaderParts(rawValue: 16)

        static let all = (0..<32).map { HeaderParts(rawValue: $0) }
        var description: String { "flags \(rawValue)" }
    }

    /// A gzip member written by hand.
    static func member(_ bytes: [UInt8], _ parts: HeaderParts = []) -> [UInt8] {
        var member: [UInt8] = [0x1f, 0x8b, 8, parts.rawValue, 1, 2, 3, 4, 0, 255]
        if parts.contains(.extra) { member += [5, 0] + Array("A\0\u{1}\0b".utf8) }
        if parts.contains(.name) { member += Array("file.txt\0".utf8) }
        if parts.contains(.comment) { member += Array("a comment\0".utf8) }
        if parts.contains(.checksum) { member += littleEndian(crc32(0, member, UInt32(member.count)), 2) }
        member += compress(bytes, .raw)
        return member + littleEndian(crc32(0, bytes, UInt32(bytes.count)), 4) + littleEndian(UInt(bytes.count), 4)
    }

    private static func littleEndian(_ value: UInt, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt($0))) }
    }
}
