import LoadingKitPrimitives

/// The static table (RFC 7541, appendix A).
struct StaticTable: Sendable {
    /// The number of entries. Their indices are 1 to 61.
    static let count = 61

    static let shared = StaticTable()

    private let store: [UInt8]
    private let entries: [TableEntry]
    private let nameIndices: [UInt8]

    private init() {
        var store: [UInt8] = []
        var entries: [TableEntry] = []
        var nameIndices = [UInt8](repeating: 0, count: KnownField.allCases.count)
        for (index, (name, value)) in Self.fields.enumerated() {
            let (kind, malformation) = Array(name.utf8).withUnsafeBytes { FieldRules.check(name: $0) }
            entries.append(
                TableEntry(
                    offset: store.count, nameCount: UInt32(name.utf8.count), valueCount: UInt32(value.utf8.count),
                    kind: kind, nameMalformation: malformation, valueMalformation: []))
            store += Array(name.utf8) + Array(value.utf8)
            if case .field(let known) = kind, known != .other { nameIndices[Int(known.rawValue)] = UInt8(index + 1) }
        }
        self.store = store
        self.entries = entries
        self.nameIndices = nameIndices
    }

    /// The entry at an index from 1 to ``count``.
    @inline(__always)
    subscript(index: Int) -> TableEntry { entries[index &- 1] }

    /// Calls `body` with the name of an entry and, directly behind it, its value.
    @inline(__always)
    func withBytes<R>(of entry: TableEntry, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        store.withUnsafeBytes {
            body(UnsafeRawBufferPointer(rebasing: $0[entry.offset..<entry.offset &+ entry.byteCount]))
        }
    }

    /// Appends the name and the value of an entry.
    @inline(__always)
    func copy(_ entry: TableEntry, to builder: inout ByteBuilder) {
        withBytes(of: entry) { builder.append($0) }
    }

    /// The index of the entry with a well-known name; nil if there is none.
    func index(of known: KnownField) -> Int? {
        let index = Int(nameIndices[Int(known.rawValue)])
        return index == 0 ? nil : index
    }

    /// Whether the entry at an index from 1 to ``count`` has this value.
    func hasValue(_ value: UnsafeRawBufferPointer, at index: Int) -> Bool {
        let entry = self[index]
        guard Int(entry.valueCount) == value.count else { return false }
        return withBytes(of: entry) {
            Bytes.areEqual(UnsafeRawBufferPointer(rebasing: $0[Int(entry.nameCount)...]), value)
        }
    }

    /// The indices of the entries with the name of a pseudo-header field.
    static func indices(of name: HPACKPseudoFieldName) -> ClosedRange<Int>? {
        switch name {
        case .authority: 1...1
        case .method: 2...3
        case .path: 4...5
        case .scheme: 6...7
        case .status: 8...14
        case .protocol: nil
        }
    }

    private static let fields: [(name: String, value: String)] = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
        (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
        (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
        ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
        ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
        ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""),
        ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""),
        ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""),
        ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""),
        ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""),
        ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""), ("transfer-encoding", ""),
        ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
    ]
}
