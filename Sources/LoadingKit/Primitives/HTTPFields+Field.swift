extension HTTPFields {
    /// One field: a name and a value. The strings are created on access.
    public struct Field: Sendable {
        private let fields: HTTPFields
        private let entry: Entry

        init(of fields: HTTPFields, _ entry: Entry) {
            self.fields = fields
            self.entry = entry
        }

        /// The well-known name, or ``KnownField/other``.
        public var known: KnownField { entry.known }

        /// The name in its original form.
        public var name: String { fields.withEntries { FieldText.string(entry.name(in: $1)) } }

        /// The value without surrounding white space.
        public var value: String { fields.withEntries { FieldText.string(entry.value(in: $1)) } }
    }
}

extension HTTPFields: RandomAccessCollection {
    /// The first field's position: 0.
    public var startIndex: Int { 0 }
    /// The position behind the last field, which is the number of fields.
    public var endIndex: Int { storage?.state.pointee.count ?? 0 }

    /// The field at a position, in the order in which the fields were received or appended.
    public subscript(index: Int) -> Field { Field(of: self, entry(at: index)) }

    private func entry(at index: Int) -> Entry {
        withEntries { entries, _ in
            precondition(entries.indices.contains(index), "There is no field \(index)")
            return entries[index]
        }
    }
}

/// Converts the bytes of a field to a `String`.
package enum FieldText {
    /// The text in UTF-8 if the bytes are valid UTF-8, otherwise in ISO-8859-1, in which every byte is a character
    /// (RFC 9110 §5.5 calls them obs-text and does not define their meaning).
    package static func string(_ bytes: UnsafeRawBufferPointer) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }
}
