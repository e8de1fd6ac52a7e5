import LoadingKitPrimitives

/// Encodes the header lists that one side of a connection sends, in their order (RFC 7541).
///
/// A field that was sent before costs a byte or two. Fields that hold secrets (`Authorization`, `Proxy-Authorization`,
/// `Set-Cookie`, short values of `Cookie`, and names in use for keys and tokens) are marked as never to be indexed.
/// Every block that was encoded must be sent, in the same order, as the peer's table follows from it.
public struct HPACKEncoder: Sendable {
    /// Whether a `Cookie` field is sent as one field for each cookie, so that those that stay the same cost a byte or
    /// two when another one changes (RFC 9113 §8.2.3); true. The receiver puts them together again.
    public var splitsCookies = true

    private let staticTable = StaticTable.shared
    private var table: EncoderTable
    /// The size at most that this side uses, whatever the peer allows.
    private let preferredSize: Int
    /// The size that the table gets when the next block is encoded.
    private var targetSize: Int
    /// The lowest size that was set since the last block, which has to be announced to the peer (RFC 7541 §4.2).
    private var lowestSize: Int
    /// Hashes of fields that were sent without being indexed.
    private var seen = [UInt32](repeating: 0, count: 64)
    /// Where a block is put together.
    private var builder = ByteBuilder()

    /// Makes an encoder whose dynamic table has at most `preferredTableSize` bytes: 4096, which holds what repeats in a
    /// client's requests. Until ``setMaximumTableSize(_:)`` is called, the peer is taken to allow 4096, HTTP/2's initial
    /// value.
    public init(preferredTableSize: Int = 4096) {
        preferredSize = max(0, preferredTableSize)
        table = EncoderTable(maximumSize: 4096)
        targetSize = min(preferredSize, 4096)
        lowestSize = targetSize
    }

    /// Sets the size in bytes that the peer allows the dynamic table to have: its SETTINGS_HEADER_TABLE_SIZE. The next
    /// block begins with the update that the peer needs.
    public mutating func setMaximumTableSize(_ size: Int) {
        targetSize = min(preferredSize, max(0, size))
        lowestSize = min(lowestSize, targetSize)
    }

    /// The size in bytes that the dynamic table has now, as RFC 7541 §4.1 counts it.
    public var tableSize: Int { table.table.size }

    /// Appends the block of a whole header list to `block`.
    ///
    /// Names are written in small letters, whatever their case (RFC 9113 §8.2). Nothing else is checked here: fields
    /// that HTTP/2 does not have, and bytes that may be in no field, are for the caller to refuse before.
    public mutating func encode(_ pseudoFields: HPACKPseudoFields, _ fields: HTTPFields, into block: inout [UInt8]) {
        builder.removeAll()
        appendTableSizes()
        pseudoFields.forEach { name, text in
            var text = text
            text.withUTF8 { append(name, value: UnsafeRawBufferPointer($0)) }
        }
        // All at once, as each look at the fields for itself costs more than what is done with most of them.
        fields.withEntries { entries, bytes in
            for entry in entries { append(entry, in: bytes) }
        }
        block.append(contentsOf: builder.bytes)
    }

    @inline(__always)
    private mutating func append(_ entry: HTTPFields.Entry, in store: UnsafeRawBufferPointer) {
        let (known, name, value) = (entry.known, entry.name(in: store), entry.value(in: store))
        if known == .cookie, splitsCookies {
            appendCookies(name: name, value: value)
        } else {
            append(known, name: name, value: value)
        }
    }

    /// The size of a header list as SETTINGS_MAX_HEADER_LIST_SIZE counts it (RFC 9113 §6.5.2): the bytes of all names
    /// and values, and 32 for each field.
    public static func uncompressedBytes(_ pseudoFields: HPACKPseudoFields, _ fields: HTTPFields) -> Int {
        let overhead = TableEntry.overhead
        var pseudoBytes = 0
        pseudoFields.forEach { name, text in
            pseudoBytes += name.nameBytes.count + text.utf8.count + overhead
        }
        return fields.indices.reduce(pseudoBytes) { sum, index in
            fields.withBytes(at: index) { name, value, _ in sum + name.count + value.count + overhead }
        }
    }

    /// Announces a table whose size has changed: the lowest it had since, and what it is now (RFC 7541 §4.2).
    private mutating func appendTableSizes() {
        if lowestSize < min(targetSize, table.table.maximumSize) { setTableSize(lowestSize) }
        if targetSize != table.table.maximumSize { setTableSize(targetSize) }
        lowestSize = targetSize
    }

    private mutating func setTableSize(_ size: Int) {
        BlockWriter.append(size, prefix: 5, flags: 0x20, to: &builder)
        table.setMaximumSize(size)
    }

    private mutating func append(_ name: HPACKPseudoFieldName, value: UnsafeRawBufferPointer) {
        let indices = StaticTable.indices(of: name)
        for index in indices ?? 0...0 where index > 0 && staticTable.hasValue(value, at: index) {
            return appendIndex(index)
        }
        let field = HashedField(name, value: value)
        if let index = table.index(of: field) { return appendIndex(index) }
        appendLiteral(field, nameIndex: indices?.lowerBound, .indexed)
    }

    @inline(__always)
    private mutating func append(
        _ known: KnownField, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
    ) {
        if known == .other { return append(otherName: name, value: value) }
        if known == .acceptEncoding, let index = staticTable.index(of: known), staticTable.hasValue(value, at: index) {
            return appendIndex(index)
        }
        let field = HashedField(known, name: name, value: value)
        // A field that is never to be indexed is not in the table.
        if let index = table.index(of: field) { return appendIndex(index) }
        let indexing = FieldIndexing(known, name: name, value: value)
        appendLiteral(field, nameIndex: staticTable.index(of: known), indexing)
    }

    private mutating func append(otherName name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        withUnsafeTemporaryAllocation(byteCount: name.count, alignment: 8) { bytes in
            Bytes.lowercase(name, to: bytes)
            let name = UnsafeRawBufferPointer(bytes)
            let field = HashedField(otherName: name, value: value)
            if let index = table.index(of: field) { return appendIndex(index) }
            appendLiteral(field, nameIndex: nil, FieldIndexing(.other, name: name, value: value))
        }
    }

    /// Appends each of the cookies, which are between semicolons followed by a space, as a field.
    private mutating func appendCookies(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        var rest = value[...]
        while let semicolon = rest.firstIndex(of: UInt8(ascii: ";")) {
            let next = semicolon + 2
            // What is not separated in this way cannot be put together again in the same way.
            guard next < rest.endIndex, rest[semicolon + 1] == UInt8(ascii: " ") else { break }
            append(.cookie, name: name, value: UnsafeRawBufferPointer(rebasing: rest[..<semicolon]))
            rest = rest[next...]
        }
        append(.cookie, name: name, value: UnsafeRawBufferPointer(rebasing: rest))
    }

    @inline(__always)
    private mutating func appendIndex(_ index: Int) { BlockWriter.append(index, prefix: 7, flags: 0x80, to: &builder) }

    /// Appends a field that no table has. `nameIndex` is where the static table has the name.
    private mutating func appendLiteral(_ field: HashedField, nameIndex: Int?, _ indexing: FieldIndexing) {
        if indexing == .never { return appendLiteral(field, nameIndex: nameIndex, prefix: 4, flags: 0x10) }
        guard decideInsertion(field, indexing) else {
            return appendLiteral(field, nameIndex: nameIndex, prefix: 4, flags: 0)
        }
        appendLiteral(field, nameIndex: nameIndex, prefix: 6, flags: 0x40)
        table.insert(field)
    }

    /// Whether a field goes into the table: one that changes often, or that would push much out, when it comes again.
    private mutating func decideInsertion(_ field: HashedField, _ indexing: FieldIndexing) -> Bool {
        let room = table.table.maximumSize
        guard field.size <= room else { return false }
        if indexing == .indexed, field.size <= room / 4 { return true }
        let place = Int(field.fieldHash % UInt32(seen.count))
        if seen[place] == field.fieldHash { return true }
        seen[place] = field.fieldHash
        return false
    }

    private mutating func appendLiteral(_ field: HashedField, nameIndex: Int?, prefix: UInt8, flags: UInt8) {
        if let index = nameIndex ?? table.nameIndex(of: field) {
            BlockWriter.append(index, prefix: prefix, flags: flags, to: &builder)
        } else {
            builder.append(flags)
            appendName(field)
        }
        BlockWriter.append(field.value, to: &builder)
    }

    private mutating func appendName(_ field: HashedField) {
        guard field.isNameKnown else { return BlockWriter.append(field.name, to: &builder) }
        // It may have capital letters still.
        withUnsafeTemporaryAllocation(byteCount: field.name.count, alignment: 8) { bytes in
            Bytes.lowercase(field.name, to: bytes)
            BlockWriter.append(UnsafeRawBufferPointer(bytes), to: &builder)
        }
    }
}
