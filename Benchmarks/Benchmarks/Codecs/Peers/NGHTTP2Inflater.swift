import CPeers

/// nghttp2's HPACK decoder, which gives one field after the other.
final class NGHTTP2Inflater {
    static let name = "nghttp2"

    private let inflater: OpaquePointer

    init() throws {
        var inflater: OpaquePointer?
        let code = nghttp2_hd_inflate_new(&inflater)
        guard code == 0, let inflater else { throw PeerError(Self.name, Int(code)) }
        self.inflater = inflater
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    /// Calls `take` with each field of a whole block.
    @inline(__always)
    func decode(_ block: [UInt8], _ take: (nghttp2_nv) -> Void) throws {
        try block.withUnsafeBufferPointer { bytes in
            var rest = bytes
            while true {
                var field = nghttp2_nv()
                var flags: Int32 = 0
                let count = nghttp2_hd_inflate_hd2(inflater, &field, &flags, rest.baseAddress, rest.count, 1)
                guard count >= 0 else { throw PeerError(Self.name, count) }
                rest = UnsafeBufferPointer(rebasing: rest[count...])
                if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 { take(field) }
                if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
            }
        }
        nghttp2_hd_inflate_end_headers(inflater)
    }

    func decode(_ block: [UInt8]) throws -> HeaderList {
        var lines: [FieldLine] = []
        try decode(block) { field in
            lines.append(FieldLine(Self.text(field.name, field.namelen), Self.text(field.value, field.valuelen)))
        }
        return HeaderList(lines: lines)
    }

    private static func text(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}
