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
    /// The lowest size that was set since the last block, which the peer must hear of (RFC 7541 §4.2).
    private var lowestSize: Int
    /// Hashes of fields that were sent without being indexed.
    private var seen = [UInt32](repeating: 0, count: 64)

    /// Makes an encoder whose dynamic table has at most `preferredTableSize` bytes: 4096, which holds what repeats in a
    /// client's requests. Until ``setMaximumTableSize(_:)`` says otherwise, the peer is taken to allow 4096, HTTP/2's
    /// initial value.
    public init(preferredTableSize: Int = 4096) {
        preferredSize = max(0, preferredTableSize)
        table = EncoderTable(maximumSize: 4096)
        targetSize = min(preferredSize, 4096)
        lowestSize = targetSize
    }

    /// Sets the size in bytes that the peer allows the dynamic table to have: its SETTINGS_HEADER_TABLE_SIZE. The next
    /// block begins with what the peer must be told of it.
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
        appendTableSizes(to: &block)
        for field in pseudoFields.values {
            var text = field.text
            text.withUTF8 { append(field.name, value: UnsafeRawBufferPointer($0), to: &block) }
        }
        for index in fields.indices {
            fields.withBytes(at: index) { name, value, known in
                if known == .cookie, splitsCookies {
                    appendCookies(name: name, value: value, to: &block)
                } else {
                    append(known, name: name, value: value, to: &block)
                }
            }
        }
    }

    /// The size of a header list as SETTINGS_MAX_HEADER_LIST_SIZE counts it (RFC 9113 §6.5.2): the bytes of all names
    /// and values, and 32 for each field.
    public static func uncompressedBytes(_ pseudoFields: HPACKPseudoFields, _ fields: HTTPFields) -> Int {
        let overhead = TableEntry.overhead
        let pseudoBytes = pseudoFields.values.reduce(0) {
            $0 + $1.name.nameBytes.count + $1.text.utf8.count + overhead
        }
        return fields.indices.reduce(pseudoBytes) { sum, index in
            fields.withBytes(at: index) { name, value, _ in sum + name.count + value.count + overhead }
        }
    }

    /// Tells the peer of a table whose size has changed: the lowest it had since, and what it is now (RFC 7541 §4.2).
    private mutating func appendTableSizes(to block: inout [UInt8]) {
        if lowestSize < min(targetSize, table.table.maximumSize) { setTableSize(lowestSize, to: &block) }
        if targetSize != table.table.maximumSize { setTableSize(targetSize, to: &block) }
        lowestSize = targetSize
    }

    private mutating func setTableSize(_ size: Int, to block: inout [UInt8]) {
        BlockWriter.append(size, prefix: 5, flags: 0x20, to: &block)
        table.setMaximumSize(size)
    }

    private mutating func append(
        _ name: HPACKPseudoFieldName, value: UnsafeRawBufferPointer, to block: inout [UInt8]
    ) {
        let indices = StaticTable.indices(of: name)
        for index in indices ?? 0...0 where index > 0 && staticTable.hasValue(value, at: index) {
            return BlockWriter.append(index, prefix: 7, flags: 0x80, to: &block)
        }
        append(name: name.nameBytes, value: value, nameIndex: indices?.lowerBound, indexing: .indexed, to: &block)
    }

    private mutating func append(
        _ known: KnownField, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, to block: inout [UInt8]
    ) {
        let nameIndex = staticTable.index(of: known)
        if known == .acceptEncoding, let nameIndex, staticTable.hasValue(value, at: nameIndex) {
            return BlockWriter.append(nameIndex, prefix: 7, flags: 0x80, to: &block)
        }
        let indexing = FieldIndexing(known, name: name, value: value)
        append(name: name, value: value, nameIndex: nameIndex, indexing: indexing, to: &block)
    }

    /// Appends each of the cookies, which are between semicolons followed by a space, as a field.
    private mutating func appendCookies(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, to block: inout [UInt8]
    ) {
        var rest = value[...]
        while let semicolon = rest.firstIndex(of: UInt8(ascii: ";")) {
            let next = semicolon + 2
            // What is not separated in this way cannot be put together again in the same way.
            guard next < rest.endIndex, rest[semicolon + 1] == UInt8(ascii: " ") else { break }
            append(.cookie, name: name, value: UnsafeRawBufferPointer(rebasing: rest[..<semicolon]), to: &block)
            rest = rest[next...]
        }
        append(.cookie, name: name, value: UnsafeRawBufferPointer(rebasing: rest), to: &block)
    }

    /// Appends a field that the static table does not have. `nameIndex` is where it has the name.
    private mutating func append(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, nameIndex: Int?, indexing: FieldIndexing,
        to block: inout [UInt8]
    ) {
        let count = name.count + value.count
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { bytes in
            for (index, byte) in name.enumerated() { bytes[index] = Bytes.lowercased(byte) }
            UnsafeMutableRawBufferPointer(rebasing: bytes[name.count...]).copyMemory(from: value)
            let field = HashedField(bytes: UnsafeRawBufferPointer(bytes), nameCount: name.count)
            append(field, nameIndex: nameIndex, indexing: indexing, to: &block)
        }
    }

    private mutating func append(
        _ field: HashedField, nameIndex: Int?, indexing: FieldIndexing, to block: inout [UInt8]
    ) {
        switch indexing {
        case .never:
            appendLiteral(field, nameIndex: nameIndex, prefix: 4, flags: 0x10, to: &block)
        case .indexed, .whenRepeated:
            if let index = table.index(of: field) {
                BlockWriter.append(index, prefix: 7, flags: 0x80, to: &block)
            } else if shouldInsert(field, indexing) {
                appendLiteral(field, nameIndex: nameIndex, prefix: 6, flags: 0x40, to: &block)
                table.insert(field)
            } else {
                appendLiteral(field, nameIndex: nameIndex, prefix: 4, flags: 0, to: &block)
            }
        }
    }

    /// Whether a field goes into the table: one that changes often, or that would push much out, when it comes again.
    private mutating func shouldInsert(_ field: HashedField, _ indexing: FieldIndexing) -> Bool {
        let room = table.table.maximumSize
        guard field.size <= room else { return false }
        if indexing == .indexed, field.size <= room / 4 { return true }
        let place = Int(field.fieldHash % UInt32(seen.count))
        if seen[place] == field.fieldHash { return true }
        seen[place] = field.fieldHash
        return false
    }

    private func appendLiteral(
        _ field: HashedField, nameIndex: Int?, prefix: UInt8, flags: UInt8, to block: inout [UInt8]
    ) {
        if let index = nameIndex ?? table.nameIndex(of: field) {
            BlockWriter.append(index, prefix: prefix, flags: flags, to: &block)
        } else {
            block.append(flags)
            BlockWriter.append(field.name, to: &block)
        }
        BlockWriter.append(field.value, to: &block)
    }
}
