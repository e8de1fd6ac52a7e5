/// The dynamic table (RFC 7541 §2.3.2): fields in the order of their insertion. The oldest are evicted first.
///
/// The bytes of all fields are in one store, each field's in one piece. Evicting only moves the beginning. When the
/// unused bytes before it are as many as the used ones, the used bytes are moved to the front, so that the store is at
/// most about twice as large as the table.
struct DynamicTable: Sendable {
    /// The largest size of the table, as RFC 7541 §4.1 counts it.
    private(set) var maximumSize: Int
    /// The current size of the table.
    private(set) var size = 0
    /// The number of entries.
    private(set) var count = 0
    /// The number of all insertions, which is the number of the next entry.
    private(set) var insertions = 0

    private var store: [UInt8] = []
    /// The ``TableEntry/offset`` of the store's first byte.
    private var storeOffset = 0
    /// A ring whose size is a power of two: entry n is at position n modulo the size.
    private var ring: [TableEntry] = []

    init(maximumSize: Int) { self.maximumSize = Self.clamped(maximumSize) }

    /// SETTINGS_HEADER_TABLE_SIZE has 32 bits (RFC 9113 §6.5.1).
    private static func clamped(_ size: Int) -> Int { min(max(0, size), Int(UInt32.max)) }

    /// The entry at an index. The newest entry has index 0. The index must be below ``count``.
    @inline(__always)
    subscript(index: Int) -> TableEntry { ring[(insertions &- 1 &- index) & (ring.count &- 1)] }

    /// The entry with a number. It must still be in the table.
    @inline(__always)
    func entry(number: Int) -> TableEntry { ring[number & (ring.count &- 1)] }

    /// The number of the oldest entry in the table.
    var oldestNumber: Int { insertions &- count }

    /// Calls `body` with the name of an entry and, directly behind it, its value.
    @inline(__always)
    func withBytes<R>(of entry: TableEntry, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let start = entry.offset &- storeOffset
        return store.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start &+ entry.byteCount])) }
    }

    /// Appends the name and the value of an entry.
    @inline(__always)
    func copy(_ entry: TableEntry, to builder: inout ByteBuilder) {
        withBytes(of: entry) { builder.append($0) }
    }

    /// Sets the largest size of the table, and evicts the entries beyond it (RFC 7541 §4.3).
    mutating func setMaximumSize(_ maximum: Int) {
        maximumSize = Self.clamped(maximum)
        evict(downTo: maximumSize)
    }

    /// Inserts a field, whose name is the first `entry.nameCount` of `bytes`, and evicts entries to make room. Returns
    /// whether the field is in the table. A field that is larger than the table empties it (RFC 7541 §4.4).
    ///
    /// `entry.offset` is set here. `bytes` must not be in this table's store.
    @discardableResult
    mutating func insert(_ entry: TableEntry, bytes: UnsafeRawBufferPointer) -> Bool {
        guard add(entry) else { return false }
        store.append(contentsOf: bytes)
        return true
    }

    /// Inserts a field whose name and value are in two places, as ``insert(_:bytes:)`` does.
    @discardableResult
    mutating func insert(_ entry: TableEntry, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool {
        guard add(entry) else { return false }
        store.append(contentsOf: name)
        store.append(contentsOf: value)
        return true
    }

    /// Adds an entry, unless it is larger than the table. Its bytes must be appended to the store next.
    @inline(__always)
    private mutating func add(_ entry: TableEntry) -> Bool {
        guard entry.size <= maximumSize else {
            evict(downTo: 0)
            return false
        }
        evict(downTo: maximumSize &- entry.size)
        compactStore()
        if count == ring.count { growRing() }
        var entry = entry
        entry.offset = storeOffset &+ store.count
        ring[insertions & (ring.count &- 1)] = entry
        insertions &+= 1
        count &+= 1
        size &+= entry.size
        return true
    }

    private mutating func evict(downTo allowed: Int) {
        while size > allowed {
            size &-= entry(number: oldestNumber).size
            count &-= 1
        }
        guard count == 0 else { return }
        storeOffset &+= store.count
        store.removeAll(keepingCapacity: store.capacity <= 2 * maximumSize)
    }

    private mutating func compactStore() {
        guard count > 0 else { return }
        let unused = entry(number: oldestNumber).offset &- storeOffset
        guard unused > 1024, unused > store.count &- unused else { return }
        store.removeSubrange(0..<unused)
        storeOffset &+= unused
    }

    private mutating func growRing() {
        let vacant = TableEntry(
            offset: 0, nameCount: 0, valueCount: 0, kind: .unknownPseudo, nameMalformation: [], valueMalformation: [])
        var larger = [TableEntry](repeating: vacant, count: max(16, ring.count * 2))
        for number in oldestNumber..<insertions { larger[number & (larger.count - 1)] = entry(number: number) }
        ring = larger
    }
}

/// A field in one of the tables: the place of its name, which its value follows directly, and the results of its
/// checks, so that the field is not checked again when a block refers to it.
struct TableEntry: Sendable {
    /// The number of bytes that RFC 7541 §4.1 counts for an entry in addition to its name and value.
    static let overhead = 32

    /// The offset of the name's first byte, counted from the first byte ever inserted into the table.
    var offset: Int
    var nameCount: UInt32
    var valueCount: UInt32
    var kind: FieldNameKind
    /// The errors of the name.
    var nameMalformation: HPACKMalformation
    /// The errors of the value.
    var valueMalformation: HPACKMalformation

    var byteCount: Int { Int(nameCount) &+ Int(valueCount) }

    /// The size as RFC 7541 §4.1 counts it.
    var size: Int { byteCount &+ Self.overhead }
}

/// The kind of a name.
enum FieldNameKind: Sendable, Equatable {
    case pseudo(HPACKPseudoFieldName)
    case unknownPseudo
    /// A regular field, which may be ``KnownField/other``.
    case field(KnownField)
}
