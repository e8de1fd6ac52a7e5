import CPeers

/// nghttp2's HPACK encoder.
final class NGHTTP2Deflater {
    static let name = "nghttp2"

    private let deflater: OpaquePointer

    init() throws {
        var deflater: OpaquePointer?
        // 4096 is HTTP/2's initial size of the dynamic table.
        let code = nghttp2_hd_deflate_new(&deflater, 4096)
        guard code == 0, let deflater else { throw PeerError(Self.name, Int(code)) }
        self.deflater = deflater
    }

    deinit { nghttp2_hd_deflate_del(deflater) }

    /// Puts the block of a list into `output`; gives its length.
    @inline(__always)
    func encode(_ list: NGHTTP2List, into output: UnsafeMutableRawBufferPointer) throws -> Int {
        try list.encode(with: deflater, into: output)
    }

    func encode(_ list: NGHTTP2List) throws -> [UInt8] {
        try withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { output in
            Array(output[..<(try encode(list, into: output))])
        }
    }
}
