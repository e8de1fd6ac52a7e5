import CPeers

/// A header list as nghttp2 takes it.
final class NGHTTP2List {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private let pairs: UnsafeMutableBufferPointer<nghttp2_nv>

    init(_ list: HeaderList) {
        let bytes = list.lines.flatMap { Array($0.name.utf8) + Array($0.value.utf8) }
        memory = .allocate(capacity: bytes.count)
        _ = memory.initialize(from: bytes)
        pairs = .allocate(capacity: list.lines.count)
        var place = memory.baseAddress
        for (index, line) in list.lines.enumerated() {
            let (name, value) = (line.name.utf8.count, line.value.utf8.count)
            pairs.initializeElement(
                at: index,
                to: nghttp2_nv(
                    name: place, value: place.map { $0 + name }, namelen: name, valuelen: value,
                    flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
            place = place.map { $0 + name + value }
        }
    }

    deinit {
        memory.deallocate()
        pairs.deallocate()
    }

    /// Appends the block of the list.
    func encode(with deflater: OpaquePointer, into output: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = nghttp2_hd_deflate_hd(
            deflater, output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count, pairs.baseAddress,
            pairs.count)
        guard count >= 0 else { throw PeerError(NGHTTP2Deflater.name, count) }
        return count
    }
}
