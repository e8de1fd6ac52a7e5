/// Decodes the header blocks that one side of a connection sends, in their order (RFC 7541).
///
/// The blocks of all streams share a dynamic table, so every block must be decoded, also that of a stream which is
/// reset. After an error nothing more can be decoded: the connection must be closed (RFC 9113 §4.3).
public struct HPACKDecoder: Sendable {
    /// How large a list may be before its fields are no longer kept.
    public var limits: HPACKLimits

    private static let blockBytes = 256 << 20

    private let staticTable = StaticTable.shared
    private var table: DynamicTable
    /// What the encoder may set the table's size to.
    private var announcedSize: Int
    /// The lowest size announced that the encoder has yet to take up, where it is below the table's.
    private var requiredSize: Int?
    private var hasFailed = false
    /// How much the list before had, within reason: the next one mostly has as much.
    private var expectedFields = 16
    private var expectedBytes = 512
    /// Where a list's names and values are put together.
    private var builder = ByteBuilder()
    private var literals = LiteralMemory()

    /// Makes a decoder whose dynamic table may have `maximumTableSize` bytes from the start on: 4096, HTTP/2's initial
    /// value, unless both sides know another one. SETTINGS change it later: see ``setMaximumTableSize(_:)``.
    public init(maximumTableSize: Int = 4096, limits: HPACKLimits = HPACKLimits()) {
        self.limits = limits
        table = DynamicTable(maximumSize: maximumTableSize)
        announcedSize = max(0, maximumTableSize)
    }

    /// Sets the size in bytes to which the peer's encoder may set the dynamic table, when the peer has acknowledged the
    /// SETTINGS_HEADER_TABLE_SIZE with it. Where it is lower than before, the next block must take it up.
    public mutating func setMaximumTableSize(_ size: Int) {
        announcedSize = max(0, size)
        guard announcedSize < table.maximumSize else { return }
        requiredSize = min(announcedSize, requiredSize ?? announcedSize)
    }

    /// The size in bytes that the dynamic table has now, as RFC 7541 §4.1 counts it.
    public var tableSize: Int { table.size }

    /// The number of entries that the dynamic table has now.
    public var tableCount: Int { table.count }

    /// Decodes a whole block (the payloads of HEADERS and its CONTINUATION frames, one after the other) into `list`,
    /// whose former content is gone then.
    ///
    /// - Throws: ``HPACKError``, a connection error of type COMPRESSION_ERROR. `list` is incomplete then.
    public mutating func decode(
        _ block: UnsafeRawBufferPointer, into list: inout HPACKHeaderList
    ) throws(HPACKError) {
        list.removeAll()
        list.fields.reserve(fields: expectedFields, bytes: expectedBytes)
        builder.removeAll()
        literals.restart()
        // Also after an error, as the list's entries refer to it.
        defer { list.fields.append(bytes: builder.bytes) }
        var reader = BlockReader(block)
        do throws(HPACKError.Kind) {
            if hasFailed { throw .decoderFailed }
            guard block.count <= Self.blockBytes else { throw .blockTooLong }
            try readTableSizes(&reader)
            while !reader.isAtEnd { try readField(&reader, into: &list) }
            expectedFields = min(list.fields.count, 64)
            expectedBytes = min(builder.count, 4096)
        } catch {
            hasFailed = true
            throw HPACKError(error, offset: reader.offset)
        }
    }

    /// Decodes a whole block.
    ///
    /// - Throws: ``HPACKError``, a connection error of type COMPRESSION_ERROR.
    public mutating func decode(_ block: [UInt8]) throws(HPACKError) -> HPACKHeaderList {
        var list = HPACKHeaderList()
        let result = block.withUnsafeBytes { bytes -> Result<Void, HPACKError> in
            do throws(HPACKError) { return .success(try decode(bytes, into: &list)) } catch { return .failure(error) }
        }
        try result.get()
        return list
    }

    /// Reads the sizes for the dynamic table with which a block may begin (RFC 7541 §4.2).
    private mutating func readTableSizes(_ reader: inout BlockReader) throws(HPACKError.Kind) {
        var count = 0
        while !reader.isAtEnd, reader.peeked & 0xE0 == 0x20 {
            count += 1
            guard count <= 2 else { throw .tooManyTableSizes }
            let size = try reader.readInteger(prefix: 5)
            guard size <= announcedSize else { throw .tableSizeAboveMaximum }
            if let required = requiredSize, size > required { throw .missingTableSize }
            requiredSize = nil
            table.setMaximumSize(size)
        }
        // An empty block refers to nothing, so that it cannot be misunderstood.
        guard requiredSize == nil || reader.isAtEnd else { throw .missingTableSize }
    }

    /// Reads one field (RFC 7541 §6.1, §6.2).
    @inline(__always)
    private mutating func readField(
        _ reader: inout BlockReader, into list: inout HPACKHeaderList
    ) throws(HPACKError.Kind) {
        let byte = reader.peeked
        if byte & 0x80 != 0 {
            try appendIndexed(try reader.readInteger(prefix: 7), to: &list)
        } else if byte & 0xC0 == 0x40 {
            try readLiteral(&reader, prefix: 6, isInserted: true, into: &list)
        } else if byte & 0xE0 == 0x20 {
            throw .misplacedTableSize
        } else {
            // Without indexing, or never indexed: the difference concerns encoders that send it on.
            try readLiteral(&reader, prefix: 4, isInserted: false, into: &list)
        }
    }

    @inline(__always)
    private mutating func appendIndexed(_ index: Int, to list: inout HPACKHeaderList) throws(HPACKError.Kind) {
        let offset = builder.count
        if let place = try dynamicPlace(of: index) {
            let entry = table[place]
            guard list.count(entry, limits: limits) else { return list.note(entry, at: nil) }
            table.copy(entry, to: &builder)
            list.note(entry, at: offset)
        } else {
            let entry = staticTable[index]
            guard list.count(entry, limits: limits) else { return list.note(entry, at: nil) }
            staticTable.copy(entry, to: &builder)
            list.note(entry, at: offset)
        }
    }

    /// Where in the dynamic table the entry with an index is, or nil when it is in the static table.
    @inline(__always)
    private func dynamicPlace(of index: Int) throws(HPACKError.Kind) -> Int? {
        guard index > 0 else { throw .invalidIndex }
        guard index > StaticTable.count else { return nil }
        let place = index &- StaticTable.count &- 1
        guard place < table.count else { throw .invalidIndex }
        return place
    }

    /// Reads a field whose value, and perhaps name, is in the block. The builder has both in the meantime, also when
    /// the limits do not let the list keep them.
    private mutating func readLiteral(
        _ reader: inout BlockReader, prefix: UInt8, isInserted: Bool, into list: inout HPACKHeaderList
    ) throws(HPACKError.Kind) {
        let start = builder.count
        let entry: TableEntry
        if let (known, count) = literals.recall(reader.rest, to: &builder) {
            entry = known
            reader.skip(count)
        } else {
            entry = try decodeLiteral(&reader, prefix: prefix)
        }
        if isInserted { table.insert(entry, bytes: builder.bytes(from: start)) }
        if list.count(entry, limits: limits) {
            list.note(entry, at: start)
        } else {
            builder.removeLast(entry.byteCount)
            list.note(entry, at: nil)
        }
    }

    /// Appends the name and the value of a literal to the builder.
    private mutating func decodeLiteral(_ reader: inout BlockReader, prefix: UInt8) throws(HPACKError.Kind)
        -> TableEntry
    {
        let (start, codedStart) = (builder.count, reader.offset)
        let index = try reader.readInteger(prefix: prefix)
        var entry = index == 0 ? try readName(&reader) : try copyName(of: index)
        let valueStart = builder.count
        try readString(&reader)
        let value = builder.bytes(from: valueStart)
        entry.valueCount = UInt32(truncatingIfNeeded: value.count)
        entry.valueMalformation = FieldRules.check(value: value, of: entry.kind)
        // What is in the dynamic table changes.
        let codedEnd = index <= StaticTable.count ? reader.offset : codedStart
        literals.note(reader.bytes(from: codedStart, to: codedEnd), entry, decoded: builder.bytes(from: start))
        return entry
    }

    private mutating func readName(_ reader: inout BlockReader) throws(HPACKError.Kind) -> TableEntry {
        let start = builder.count
        try readString(&reader)
        let name = builder.bytes(from: start)
        let (kind, malformation) = FieldRules.check(name: name)
        return TableEntry(
            offset: 0, nameCount: UInt32(truncatingIfNeeded: name.count), valueCount: 0, kind: kind,
            nameMalformation: malformation, valueMalformation: [])
    }

    @inline(__always)
    private mutating func copyName(of index: Int) throws(HPACKError.Kind) -> TableEntry {
        var entry: TableEntry
        if let place = try dynamicPlace(of: index) {
            entry = table[place]
            entry.valueCount = 0
            table.copy(entry, to: &builder)
        } else {
            entry = staticTable[index]
            entry.valueCount = 0
            staticTable.copy(entry, to: &builder)
        }
        return entry
    }

    /// Appends the string that comes next (RFC 7541 §5.2).
    @inline(__always)
    private mutating func readString(_ reader: inout BlockReader) throws(HPACKError.Kind) {
        let (bytes, isHuffman) = try reader.readString()
        guard isHuffman else { return builder.append(bytes) }
        let room = builder.room(HuffmanDecoder.room(encoded: bytes.count))
        builder.advance(by: try HuffmanDecoder.decode(bytes, followedBy: reader.remaining, to: room).get())
    }
}

/// How large a header list may be before its fields are no longer kept.
public struct HPACKLimits: Sendable, Equatable {
    /// Bytes of one list: of its names and values, and 32 for each field, which is how SETTINGS_MAX_HEADER_LIST_SIZE
    /// counts (RFC 9113 §6.5.2); 256 KiB. At most 2 GiB counts, whatever is set.
    public var listBytes = 256 * 1024

    /// Fields of one list, pseudo-header fields among them; 1,000.
    public var fieldCount = 1000

    /// The limits that this page gives.
    public init() {}
}
