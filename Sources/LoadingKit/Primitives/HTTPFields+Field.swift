extension HTTPFields {
    /// One field: a name and a value. The strings are made on access.
    public struct Field: Sendable {
        private let store: [UInt8]
        private let entry: Entry

        init(store: [UInt8], entry: Entry) {
            self.store = store
            self.entry = entry
        }

        /// The well-known name, or ``KnownField/other``.
        public var known: KnownField { entry.known }

        /// The name as it was given.
        public var name: String { store.withUnsafeBytes { FieldText.string(entry.name(in: $0)) } }

        /// The value, without the white space around it.
        public var value: String { store.withUnsafeBytes { FieldText.string(entry.value(in: $0)) } }
    }
}

extension HTTPFields: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { entries.count }

    public subscript(index: Int) -> Field { Field(store: store, entry: entries[index]) }
}
