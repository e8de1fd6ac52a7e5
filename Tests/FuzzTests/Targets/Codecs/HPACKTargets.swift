import LoadingKitHPACK

enum HPACKTargets {
    static let all = [FuzzTarget("hpack-decode", decode), FuzzTarget("hpack-encode", encode)]

    /// Blocks that each begin with their length, for one decoder whose table changes between them.
    @Sendable private static func decode(_ input: inout FuzzInput) throws {
        var limits = HPACKLimits()
        let choices = input.byte()
        if choices & 1 == 1 { (limits.listBytes, limits.fieldCount) = (300, 5) }
        var decoder = HPACKDecoder(limits: limits)
        var encoder = HPACKEncoder()
        encoder.splitsCookies = false
        var second = HPACKDecoder()
        var maximum = 4096
        while !input.isEmpty {
            let length = input.byte()
            if length == 255 {
                maximum = Int(input.byte()) * 40
                decoder.setMaximumTableSize(maximum)
                continue
            }
            let list: HPACKHeaderList
            do throws(HPACKError) { list = try decoder.decode(input.take(Int(length))) } catch { return }
            try require(list.exceedsLimits || list.fields.count <= limits.fieldCount, "too many fields")
            try require(decoder.tableSize <= max(4096, maximum), "the table is too large")
            guard list.malformation.isEmpty, !list.exceedsLimits else { continue }
            var block: [UInt8] = []
            encoder.encode(.none, list.fields, into: &block)
            try require(try second.decode(block).fields == list.fields, "an encoded list is decoded as another")
        }
    }

    /// Fields of the input are encoded, and decoded to the same.
    @Sendable private static func encode(_ input: inout FuzzInput) throws {
        var encoder = HPACKEncoder(preferredTableSize: Int(input.byte()) * 32)
        encoder.splitsCookies = false
        var decoder = HPACKDecoder()
        while !input.isEmpty {
            if input.flag() {
                let size = Int(input.byte()) * 32
                encoder.setMaximumTableSize(size)
                decoder.setMaximumTableSize(size)
            }
            var fields = HTTPFields()
            for _ in 0..<input.number(below: 8) { append(&fields, &input) }
            var block: [UInt8] = []
            encoder.encode(.response(status: 200 + input.number(below: 100)), fields, into: &block)
            let list = try decoder.decode(block)
            try require(list.fields == fields, "\(fields) is decoded as \(list.fields)")
            try requireEqual(encoder.tableSize, decoder.tableSize, "sizes of tables")
        }
    }

    private static func append(_ fields: inout HTTPFields, _ input: inout FuzzInput) {
        let known = KnownField.allCases[input.number(below: KnownField.allCases.count)]
        let name = known == .other ? Array("x-\(input.number(below: 4))".utf8) : Array(known.name.utf8)
        let value = input.take(input.number(below: 70))
        name.withUnsafeBytes { name in value.withUnsafeBytes { fields.append(nameBytes: name, valueBytes: $0) } }
    }
}
