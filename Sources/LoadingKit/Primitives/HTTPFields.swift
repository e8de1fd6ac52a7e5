/// The header or trailer fields of a message, in order.
///
/// Names and values are ranges of one store of bytes; `String`s are created on access. Names are compared without
/// regard to the case of ASCII letters (RFC 9110 §5.1), and kept in their original form. A value that is read as a
/// `String` is decoded as UTF-8 if it is valid UTF-8, otherwise as ISO-8859-1, so that no byte is lost.
public struct HTTPFields: @unchecked Sendable {  // its storage is only changed by a sole owner
    /// Shared by copies until one of them changes; nil if there never was a field.
    @usableFromInline var storage: Storage?

    /// No fields.
    @inlinable public init() {}

    /// Whether the other value has the same memory, and thus the same fields. Equal values may have different memory.
    package func isIdentical(to other: HTTPFields) -> Bool { storage === other.storage }

    /// Makes room for `fields` more fields, whose names and values have `bytes` bytes together.
    public mutating func reserve(fields: Int, bytes: Int) {
        prepare(fields: Swift.max(0, fields), bytes: Swift.max(0, bytes))
    }

    /// Adds a field after the others. `known` must not be ``KnownField/other``, which is not a name.
    public mutating func append(_ known: KnownField, _ value: String) {
        var value = value
        value.withUTF8 { append(known, valueBytes: UnsafeRawBufferPointer($0)) }
    }

    /// Adds a field after the others. `known` must not be ``KnownField/other``, which is not a name.
    public mutating func append(_ known: KnownField, valueBytes: UnsafeRawBufferPointer) {
        precondition(known != .other, "KnownField.other is not a field's name")
        append(known: known, name: known.nameBytes, value: valueBytes)
    }

    /// Adds a field after the others.
    public mutating func append(name: String, value: String) {
        var name = name
        var value = value
        name.withUTF8 { name in
            value.withUTF8 { value in
                append(nameBytes: UnsafeRawBufferPointer(name), valueBytes: UnsafeRawBufferPointer(value))
            }
        }
    }

    /// Adds a field after the others. The bytes are not checked here; the writer that sends the fields checks them.
    public mutating func append(nameBytes: UnsafeRawBufferPointer, valueBytes: UnsafeRawBufferPointer) {
        append(known: KnownField(nameBytes: nameBytes), name: nameBytes, value: valueBytes)
    }

    private mutating func append(known: KnownField, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        prepare(fields: 1, bytes: name.count + value.count)
        let nameOffset = offset(appending: name)
        let valueOffset = offset(appending: value)
        append(
            Entry(
                nameOffset: nameOffset, nameLength: UInt32(name.count), valueOffset: valueOffset,
                valueLength: UInt32(value.count), known: known))
    }

    /// Appends bytes, and returns their offset.
    private mutating func offset(appending bytes: UnsafeRawBufferPointer) -> UInt32 {
        let offset = byteCount
        precondition(bytes.count <= Int(UInt32.max) - offset, "HTTPFields hold at most 4 GiB")
        append(bytes: bytes)
        return UInt32(offset)
    }

    /// Replaces all fields with this name by one field, at the place of the first of them, or after the others.
    public mutating func set(_ known: KnownField, _ value: String) {
        guard let first = firstIndex(of: known) else { return append(known, value) }
        replaceValue(at: first, with: value)
        removeEntries(from: first + 1) { entry, _ in entry.known == known }
    }

    /// Replaces all fields with this name by one field, at the place of the first of them, or after the others.
    public mutating func set(name: String, value: String) {
        let known = KnownField(name: name)
        guard known == .other else { return set(known, value) }
        guard let first = firstIndex(named: name) else { return append(name: name, value: value) }
        replaceValue(at: first, with: value)
        remove(name: name, from: first + 1)
    }

    /// Removes spaces and tabs at both ends of every value, which are not part of it (RFC 9110 §5.5).
    public mutating func trimValues() {
        withMutableEntries { entries, bytes in
            for index in entries.indices {
                let trimmed = ASCII.trimmingSpaces(entries[index].value(in: UnsafeRawBufferPointer(bytes)))
                entries[index].valueOffset += UInt32(trimmed.startIndex)
                entries[index].valueLength = UInt32(trimmed.count)
            }
        }
    }

    /// Removes all fields with this name.
    public mutating func remove(_ known: KnownField) {
        guard known != .other else { return }
        removeEntries { entry, _ in entry.known == known }
    }

    /// Removes all fields with this name.
    public mutating func remove(name: String) {
        let known = KnownField(name: name)
        if known == .other { remove(name: name, from: 0) } else { remove(known) }
    }

    /// Removes all fields with these names, which are in lowercase.
    package mutating func remove(names: [String]) {
        // The usual few names need no set. A server may list as many as it sends fields.
        if names.count > 4 { remove(names: Set(names)) } else { for name in names { remove(name: name) } }
    }

    private mutating func remove(names: Set<String>) {
        removeEntries { entry, store in names.contains(FieldText.string(entry.name(in: store)).lowercased()) }
    }

    private mutating func remove(name: String, from start: Int) {
        var name = name
        name.withUTF8 { name in
            let name = UnsafeRawBufferPointer(name)
            removeEntries(from: start) { entry, store in
                entry.isOther(named: name, in: store)
            }
        }
    }

    private mutating func replaceValue(at index: Int, with value: String) {
        var value = value
        let offset = value.withUTF8 { self.offset(appending: UnsafeRawBufferPointer($0)) }
        let old = withMutableEntries { entries, _ in
            defer {
                entries[index].valueOffset = offset
                entries[index].valueLength = UInt32(value.utf8.count)
            }
            return entries[index].valueLength
        }
        compact(leaving: Int(old))
    }

    private mutating func removeEntries(
        from start: Int = 0, where isRemoved: (Entry, UnsafeRawBufferPointer) -> Bool
    ) {
        guard start < count else { return }
        var (kept, unused) = (start, 0)
        withMutableEntries { entries, bytes in
            for index in start..<entries.count {
                let entry = entries[index]
                if isRemoved(entry, UnsafeRawBufferPointer(bytes)) {
                    unused += Int(entry.nameLength) + Int(entry.valueLength)
                } else {
                    entries[kept] = entry
                    kept += 1
                }
            }
        }
        storage?.state.pointee.count = kept
        compact(leaving: unused)
    }

    /// Records that bytes are no longer used. Compacting keeps a collection whose fields are set repeatedly from
    /// growing without end.
    private mutating func compact(leaving bytes: Int) {
        guard let storage else { return }
        storage.state.pointee.unused += bytes
        guard storage.state.pointee.unused > 1024, storage.state.pointee.unused > byteCount / 2 else { return }
        var compact = HTTPFields()
        compact.reserve(fields: count, bytes: byteCount - storage.state.pointee.unused)
        for index in indices {
            withBytes(at: index) { name, value, known in compact.append(known: known, name: name, value: value) }
        }
        self = compact
    }
}
