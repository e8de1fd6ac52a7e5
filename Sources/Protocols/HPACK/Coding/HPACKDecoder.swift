/// Decodes the header blocks that one side of a connection sends, in their order (RFC 7541).
///
/// The blocks of all streams share a dynamic table, so every block must be decoded, including those of streams that are
/// reset. After an error no more blocks can be decoded: the connection must be closed (RFC 9113 §4.3).
public struct HPACKDecoder: Sendable {
    /// The limits of a list. Fields beyond them are not kept.
    public var limits: HPACKLimits

    private static let blockBytes = 256 << 20

    private let staticTable = StaticTable.shared
    nonisolated(unsafe) private let huffman = HuffmanTable.shared
    private var table: DynamicTable
    /// The largest size to which the encoder may set the table.
    private var announcedSize: Int
    /// The lowest announced size that the encoder has not applied yet, if it is below the table's.
    private var requiredSize: Int?
    private var hasFailed = false
    /// The numbers of fields and bytes of the previous list, within limits. The next list usually has similar numbers.
    private var expectedFields = 16
    private var expectedBytes = 512
    /// The memory in which a list's names and values are assembled.
    private var builder = ByteBuilder()
    private var literals = LiteralMemory()

    /// Makes a decoder whose dynamic table may have `maximumTableSize` bytes from the start: 4096, HTTP/2's initial
    /// value, unless both sides have agreed on another one. SETTINGS change it later: see ``setMaximumTableSize(_:)``.
    public init(maximumTableSize: Int = 4096, limits: HPACKLimits = HPACKLimits()) {
        self.limits = limits
        table = DynamicTable(maximumSize: maximumTableSize)
        announcedSize = max(0, maximumTableSize)
    }

    /// Sets the largest size in bytes to which the peer's encoder may set the dynamic table. Call it when the peer has
    /// acknowledged the SETTINGS_HEADER_TABLE_SIZE with this size. If the size is lower than before, the next block
    /// must apply it.
    public mutating func setMaximumTableSize(_ size: Int) {
        announcedSize = max(0, size)
        guard announcedSize < table.maximumSize else { return }
        requiredSize = min(announcedSize, requiredSize ?? announcedSize)
    }

    /// The current size of the dynamic table in bytes, as RFC 7541 §4.1 counts it.
    public var tableSize: Int { table.size }

    /// The current number of entries in the dynamic table.
    public var tableCount: Int { table.count }

    /// Decodes a whole block (the payloads of HEADERS and its CONTINUATION frames, joined) into `list`. The former
    /// content of `list` is removed.
    ///
    /// - Throws: ``HPACKError``, a connection error of type COMPRESSION_ERROR. `list` is incomplete then.
    public mutating func decode(
        _ block: UnsafeRawBufferPointer, into list: inout HPACKHeaderList
    ) throws(HPACKError) {
        list.removeAll()
        list.fields.reserve(fields: expectedFields, bytes: expectedBytes)
        builder.removeAll()
        literals.restart()
        // Also necessary after an error, as the list's entries refer to these bytes.
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

    /// Reads the table sizes with which a block may begin (RFC 7541 §4.2).
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
        // An empty block refers to no table entry, so it needs no table size.
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
            // Without indexing, or never indexed: the difference concerns only encoders that forward the field.
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

    /// The position of the entry with `index` in the dynamic table; nil if it is in the static table.
    @inline(__always)
    private func dynamicPlace(of index: Int) throws(HPACKError.Kind) -> Int? {
        guard index > 0 else { throw .invalidIndex }
        guard index > StaticTable.count else { return nil }
        let place = index &- StaticTable.count &- 1
        guard place < table.count else { throw .invalidIndex }
        return place
    }

    /// Reads a field whose value, and possibly name, is in the block. The builder contains both temporarily, even if
    /// the limits do not allow the list to keep them.
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
        // The contents of the dynamic table change, so a literal whose name is in it is not remembered.
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

    /// Appends the next string of the block (RFC 7541 §5.2).
    @inline(__always)
    private mutating func readString(_ reader: inout BlockReader) throws(HPACKError.Kind) {
        let (bytes, isHuffman) = try reader.readString()
        guard isHuffman else { return builder.append(bytes) }
        let room = builder.room(HuffmanDecoder.room(encoded: bytes.count))
        builder.advance(by: try HuffmanDecoder.decode(bytes, huffman, followedBy: reader.remaining, to: room).get())
    }
}

/// The limits of a header list. Fields beyond them are not kept.
public struct HPACKLimits: Sendable, Equatable {
    /// The size of one list in bytes: its names and values, and 32 for each field, as SETTINGS_MAX_HEADER_LIST_SIZE
    /// counts (RFC 9113 §6.5.2); 256 KiB. A setting above 2 GiB counts as 2 GiB.
    public var listBytes = 256 * 1024

    /// The number of fields in one list, including pseudo-header fields; 1,000.
    public var fieldCount = 1000

    /// The default limits.
    public init() {}
}
