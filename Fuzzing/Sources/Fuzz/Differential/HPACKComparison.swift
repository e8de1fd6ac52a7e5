import CPeers
import LoadingKitHPACK

/// Header blocks that LoadingKit and nghttp2 decode.
enum HPACKComparison {
    static let all = [FuzzTarget("nghttp2-decode", decode), FuzzTarget("nghttp2-encode", encode)]

    private struct Field: Hashable {
        var name: [UInt8]
        var value: [UInt8]
    }

    /// Blocks that each begin with their length, up to the first that either refuses.
    @Sendable private static func decode(_ input: inout FuzzInput) throws {
        guard let peer = peer_hpack_new() else { return }
        defer { peer_hpack_free(peer) }
        var decoder = HPACKDecoder()
        _ = input.byte()
        while !input.isEmpty {
            let block = input.take(Int(input.byte()))
            let expected = fields(of: block, peer)
            let list: HPACKHeaderList
            do throws(HPACKError) {
                list = try decoder.decode(block)
            } catch  where error.kind == .tooManyTableSizes {
                // nghttp2 does not count them; two are allowed (RFC 7541 §4.2).
                return
            } catch {
                return try require(expected == nil, "\(error), and nghttp2 reads \(String(describing: expected))")
            }
            guard let expected else {
                throw BrokenContract(description: "nghttp2 refuses what is read as \(list.fields)")
            }
            guard list.malformation.isEmpty, !list.exceedsLimits else { continue }
            try requireEqual(fields(of: list), counted(expected), "fields, and those of nghttp2")
        }
    }

    /// Lists of fields that LoadingKit encodes.
    @Sendable private static func encode(_ input: inout FuzzInput) throws {
        guard let peer = peer_hpack_new() else { return }
        defer { peer_hpack_free(peer) }
        var encoder = HPACKEncoder()
        encoder.splitsCookies = false
        while !input.isEmpty {
            var list = HTTPFields()
            var sent: [Field] = [Field(name: Array(":status".utf8), value: Array("200".utf8))]
            for _ in 0..<input.number(below: 8) {
                let known = KnownField.allCases[input.number(below: KnownField.allCases.count)]
                let name =
                    known == .other ? Array("x-\(input.number(below: 4))".utf8) : Array(known.name.lowercased().utf8)
                let value = input.take(input.number(below: 70))
                sent.append(Field(name: name, value: value))
                name.withUnsafeBytes { name in value.withUnsafeBytes { list.append(nameBytes: name, valueBytes: $0) } }
            }
            var block: [UInt8] = []
            encoder.encode(.response(status: 200), list, into: &block)
            try requireEqual(fields(of: block, peer), sent, "fields that nghttp2 reads, and those that were sent")
        }
    }

    /// nghttp2's fields; nil where it refuses the block.
    private static func fields(of block: [UInt8], _ peer: OpaquePointer) -> [Field]? {
        var output = peer_bytes()
        let result = peer_hpack_decode(peer, block, block.count, &output)
        var bytes = output.take()[...]
        guard result == 0 else { return nil }
        func text() -> [UInt8] {
            let count = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(4)
            defer { bytes = bytes.dropFirst(count) }
            return Array(bytes.prefix(count))
        }
        var fields: [Field] = []
        while !bytes.isEmpty { fields.append(Field(name: text(), value: text())) }
        return fields
    }

    /// Pseudo-header fields have no order in a list that was read.
    private static func fields(of list: HPACKHeaderList) -> [Field: Int] {
        var fields: [Field] = []
        for name in HPACKPseudoFieldName.allCases {
            list.withBytes(of: name) { value in
                if let value { fields.append(Field(name: Array(name.name.utf8), value: Array(value))) }
            }
        }
        for index in list.fields.indices {
            list.fields.withBytes(at: index) { name, value, _ in
                fields.append(Field(name: Array(name).map(lowercased), value: Array(value)))
            }
        }
        return counted(fields)
    }

    private static func counted(_ fields: [Field]) -> [Field: Int] {
        Dictionary(fields.map { ($0, 1) }, uniquingKeysWith: +)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
