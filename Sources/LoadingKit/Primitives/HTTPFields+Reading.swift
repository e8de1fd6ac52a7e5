extension HTTPFields {
    /// Whether there is a field with this name.
    public func contains(_ known: KnownField) -> Bool { firstIndex(of: known) != nil }

    /// Whether there is a field with this name.
    public func contains(name: String) -> Bool { firstIndex(named: name) != nil }

    /// The values of all fields with this name, joined by `", "` (RFC 9110 §5.2); nil if there is none.
    ///
    /// Do not use this for `Set-Cookie`, whose values contain commas: use ``values(of:)``.
    public subscript(_ known: KnownField) -> String? {
        guard let first = firstIndex(of: known) else { return nil }
        let isOnly = withEntries { entries, _ in
            !entries[(first + 1)...].contains { $0.knownNumber == known.rawValue }
        }
        guard isOnly else { return Self.joined(values(of: known)) }
        return withBytes(at: first) { _, value, _ in FieldText.string(value) }
    }

    /// The values of all fields with this name, joined by `", "` (RFC 9110 §5.2); nil if there is none.
    public subscript(name name: String) -> String? { Self.joined(values(named: name)) }

    private static func joined(_ values: [String]) -> String? {
        guard let first = values.first else { return nil }
        return values.count == 1 ? first : values.joined(separator: ", ")
    }

    /// The values of all fields with this name, in order.
    public func values(of known: KnownField) -> [String] {
        var values: [String] = []
        forEachValue(of: known) { values.append(FieldText.string($0)) }
        return values
    }

    /// The values of all fields with this name, in order.
    public func values(named name: String) -> [String] {
        let known = KnownField(name: name)
        guard known == .other else { return values(of: known) }
        var name = name
        return name.withUTF8 { name in
            let name = UnsafeRawBufferPointer(name)
            return withEntries { entries, bytes in
                entries.compactMap { entry in
                    entry.isOther(named: name, in: bytes) ? FieldText.string(entry.value(in: bytes)) : nil
                }
            }
        }
    }

    /// Calls `body` with the bytes of the name and value of the field at an index of this collection.
    ///
    /// The memory is valid until `body` returns.
    public func withBytes<R>(
        at index: Int,
        _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ known: KnownField) throws -> R
    ) rethrows -> R {
        try withEntries { entries, bytes in
            precondition(entries.indices.contains(index), "There is no field \(index)")
            let entry = entries[index]
            return try body(entry.name(in: bytes), entry.value(in: bytes), entry.known)
        }
    }

    /// Calls `body` with the bytes of the value of each field with this name, in order.
    ///
    /// The memory is valid until `body` returns.
    public func forEachValue(of known: KnownField, _ body: (UnsafeRawBufferPointer) -> Void) {
        guard known != .other else { return }
        withEntries { entries, bytes in
            for entry in entries where entry.knownNumber == known.rawValue { body(entry.value(in: bytes)) }
        }
    }

    /// The index of the first field with this name; nil if there is none, and for ``KnownField/other``, which is not a
    /// name.
    public func firstIndex(of known: KnownField) -> Int? {
        guard known != .other else { return nil }
        return withEntries { entries, _ in entries.firstIndex { $0.knownNumber == known.rawValue } }
    }

    /// The index of the first field with this name; nil if there is none.
    public func firstIndex(named name: String) -> Int? {
        let known = KnownField(name: name)
        guard known == .other else { return firstIndex(of: known) }
        var name = name
        return name.withUTF8 { name in
            let name = UnsafeRawBufferPointer(name)
            return withEntries { entries, bytes in entries.firstIndex { $0.isOther(named: name, in: bytes) } }
        }
    }
}

extension HTTPFields.Entry {
    /// Whether this field has this name, which must not be a well-known one.
    func isOther(named name: UnsafeRawBufferPointer, in store: UnsafeRawBufferPointer) -> Bool {
        known == .other && ASCII.equalsIgnoringCase(self.name(in: store), name)
    }
}

extension HTTPFields: Equatable {
    /// Whether both have the same fields in the same order. Names are compared without regard to case, values byte by
    /// byte.
    public static func == (a: HTTPFields, b: HTTPFields) -> Bool {
        guard a.count == b.count else { return false }
        return a.indices.allSatisfy { index in
            a.withBytes(at: index) { name, value, known in
                b.withBytes(at: index) { otherName, otherValue, otherKnown in
                    known == otherKnown && ASCII.equalsIgnoringCase(name, otherName)
                        && value.elementsEqual(otherValue)
                }
            }
        }
    }
}
