import CLoadingKitShims

extension KnownField {
    /// The well-known name that equals `name`, ignoring case; ``other`` if there is none.
    public init(name: String) {
        var name = name
        self = name.withUTF8 { KnownField(nameBytes: UnsafeRawBufferPointer($0)) }
    }

    /// The well-known name that equals these bytes, ignoring the case of ASCII letters; ``other`` if there is none.
    public init(nameBytes bytes: UnsafeRawBufferPointer) {
        guard let name = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
            self = .other
            return
        }
        self = KnownField(rawValue: lk_known_name_number(Self.table, name, bytes.count)) ?? .other
    }

    /// All names by their number, for the look-up functions. Made once.
    nonisolated(unsafe) package static let table: UnsafePointer<lk_known_name> = {
        // Each place has its own cache line.
        let size = MemoryLayout<lk_known_name>.stride
        let memory = UnsafeMutableRawPointer.allocate(byteCount: lk_known_name_slots * size, alignment: size)
        let table = memory.bindMemory(to: lk_known_name.self, capacity: lk_known_name_slots)
        table.initialize(repeating: lk_known_name(), count: lk_known_name_slots)
        for known in allCases where known != .other {
            let name = known.nameBytes
            guard let bytes = name.baseAddress?.assumingMemoryBound(to: UInt8.self) else { continue }
            lk_add_known_name(table, bytes, name.count, known.rawValue, known.role)
        }
        return UnsafePointer(table)
    }()

    /// The field's meaning for the framing of its message.
    private var role: lk_role {
        switch self {
        case .contentLength: lk_role_content_length
        case .transferEncoding: lk_role_transfer_encoding
        case .connection: lk_role_connection
        case _: lk_role_none
        }
    }

    /// The fields that describe an HTTP/1.1 connection, and are not allowed in HTTP/2 (RFC 9113 §8.2.2). `TE` is
    /// another one, unless its value is `trailers`.
    package static let connectionSpecific = allCases.filter(\.isConnectionSpecific)

    /// Whether this is one of ``connectionSpecific``.
    package var isConnectionSpecific: Bool {
        self == .connection || self == .keepAlive || self == .proxyConnection || self == .transferEncoding
            || self == .upgrade
    }
}
