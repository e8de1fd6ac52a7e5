import LoadingKitPrimitives

/// Encodes the header lists that one side of a connection sends, in their order (RFC 7541).
///
/// A repeated field takes one or two bytes. Secret fields (`Authorization`, `Proxy-Authorization`, `Set-Cookie`, short
/// values of `Cookie`, and names in use for keys and tokens) are marked as never indexed. Every encoded block must be
/// sent, in the same order, because it changes the peer's table.
public struct HPACKEncoder: Sendable {
    /// Whether a `Cookie` field is sent as one field for each cookie, so that unchanged cookies take one or two bytes
    /// when another one changes (RFC 9113 §8.2.3); true. The receiver joins them again.
    public var splitsCookies = true

    private let staticTable = StaticTable.shared
    nonisolated(unsafe) private let codes = HuffmanTable.shared.pointee.codes
    private var table: EncoderTable
    /// The largest table size that this side uses, even if the peer allows more.
    private let preferredSize: Int
    /// The table's size from the next block on.
    private var targetSize: Int
    /// The lowest size that was set since the last block. It must be announced to the peer (RFC 7541 §4.2).
    private var lowestSize: Int
    /// The hashes of fields that were sent without indexing.
    private var seen = [UInt32](repeating: 0, count: 64)
    /// The memory in which a block is assembled.
    private var builder = ByteBuilder()

    /// Makes an encoder whose dynamic table has at most `preferredTableSize` bytes: 4096, which is enough for the
    /// repeated fields of a client's requests. Until ``setMaximumTableSize(_:)`` is called, the peer is assumed to
    /// allow 4096, HTTP/2's initial value.
    public init(preferredTableSize: Int = 4096) {
        preferredSize = max(0, preferredTableSize)
        table = EncoderTable(maximumSize: 4096)
        targetSize = min(preferredSize, 4096)
        lowestSize = targetSize
    }

    /// Sets the largest size of the dynamic table that the peer allows, in bytes: its SETTINGS_HEADER_TABLE_SIZE. The
    /// next block begins with the required size update.
    public mutating func setMaximumTableSize(_ size: Int) {
        targetSize = min(preferredSize, max(0, size))
        lowestSize = min(lowestSize, targetSize)
    }

    /// The current size of the dynamic table in bytes, as RFC 7541 §4.1 counts it.
    public var tableSize: Int { table.table.size }

    /// Appends the block of a whole header list to `block`.
    ///
    /// Names are written in lowercase (RFC 9113 §8.2). There are no other checks: the caller must refuse fields that
    /// HTTP/2 does not allow, and bytes that no field may contain.
    public mutating func encode(_ pseudoFields: HPACKPseudoFields, _ fields: HTTPFields, into block: inout [UInt8]) {
        builder.removeAll()
        appendTableSizes()
        pseudoFields.forEach { name, text in
            var text = text
            text.withUTF8 { append(name, value: UnsafeRawBufferPointer($0)) }
        }
        // All fields are read in one call, as a separate access to each costs more than encoding most of them.
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

    /// Announces a changed table size: the lowest size since the last block, and the current size (RFC 7541 §4.2).
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
        // A never-indexed field is not in the table.
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

    /// Appends each cookie as a field. The cookies are separated by a semicolon and a space. From the first other
    /// separator on, the rest is one field.
    private mutating func appendCookies(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        var rest = value[...]
        while let semicolon = rest.firstIndex(of: UInt8(ascii: ";")) {
            let next = semicolon + 2
            // Cookies with another separator could not be joined in the same way again. A field's value must not begin
            // or end with a space or a tab (RFC 9113 §8.2.1).
            guard next < rest.endIndex, rest[semicolon + 1] == UInt8(ascii: " "), !ASCII.isSpace(rest[next]),
                semicolon == rest.startIndex || !ASCII.isSpace(rest[semicolon - 1])
            else { break }
            append(.cookie, name: name, value: UnsafeRawBufferPointer(rebasing: rest[..<semicolon]))
            rest = rest[next...]
        }
        append(.cookie, name: name, value: UnsafeRawBufferPointer(rebasing: rest))
    }

    @inline(__always)
    private mutating func appendIndex(_ index: Int) { BlockWriter.append(index, prefix: 7, flags: 0x80, to: &builder) }

    /// Appends a field that neither table contains. `nameIndex` is the index of its name in the static table.
    private mutating func appendLiteral(_ field: HashedField, nameIndex: Int?, _ indexing: FieldIndexing) {
        if indexing == .never { return appendLiteral(field, nameIndex: nameIndex, prefix: 4, flags: 0x10) }
        guard decideInsertion(field, indexing) else {
            return appendLiteral(field, nameIndex: nameIndex, prefix: 4, flags: 0)
        }
        appendLiteral(field, nameIndex: nameIndex, prefix: 6, flags: 0x40)
        table.insert(field)
    }

    /// Whether a field is inserted into the table. A field that changes often, or would evict many others, is inserted
    /// only when it is repeated.
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
        BlockWriter.append(field.value, codes, to: &builder)
    }

    private mutating func appendName(_ field: HashedField) {
        guard field.isNameKnown else { return BlockWriter.append(field.name, codes, to: &builder) }
        // The name may still contain capital letters.
        withUnsafeTemporaryAllocation(byteCount: field.name.count, alignment: 8) { bytes in
            Bytes.lowercase(field.name, to: bytes)
            BlockWriter.append(UnsafeRawBufferPointer(bytes), codes, to: &builder)
        }
    }
}
