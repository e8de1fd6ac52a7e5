/// The dynamic table (RFC 7541 §2.3.2): fields in the order of their insertion, the oldest of which are evicted.
///
/// The bytes of all fields are in one store, each field's in one piece. Evicting only moves the beginning; when the
/// bytes before it are as many as those in use, these are moved to the front, so that the store is at most about twice
/// as large as the table.
struct DynamicTable: Sendable {
    /// The size that the table may have, as RFC 7541 §4.1 counts it.
    private(set) var maximumSize: Int
    /// The size that the table has.
    private(set) var size = 0
    /// How many entries there are.
    private(set) var count = 0
    /// How many entries were ever inserted: the number of the next one.
    private(set) var insertions = 0

    private var store: [UInt8] = []
    /// The ``TableEntry/offset`` of the store's first byte.
    private var storeOffset = 0
    /// A ring, as large as a power of two: the entry with number n is at n modulo its size.
    private var ring: [TableEntry] = []

    init(maximumSize: Int) { self.maximumSize = Self.clamped(maximumSize) }

    /// SETTINGS_HEADER_TABLE_SIZE has 32 bits (RFC 9113 §6.5.1).
    private static func clamped(_ size: Int) -> Int { min(max(0, size), Int(UInt32.max)) }

    /// The entry at an index that counts from 0, the newest; the index must be below ``count``.
    @inline(__always)
    subscript(index: Int) -> TableEntry { ring[(insertions &- 1 &- index) & (ring.count &- 1)] }

    /// The entry with a number, which must be there still.
    @inline(__always)
    func entry(number: Int) -> TableEntry { ring[number & (ring.count &- 1)] }

    /// The number of the oldest entry that is there still.
    var oldestNumber: Int { insertions &- count }

    /// Calls `body` with the name and the value of an entry, which are one after the other.
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

    /// Sets the size that the table may have, evicting what is too much then (RFC 7541 §4.3).
    mutating func setMaximumSize(_ maximum: Int) {
        maximumSize = Self.clamped(maximum)
        evict(downTo: maximumSize)
    }

    /// Inserts a field, whose name is the first `entry.nameCount` of `bytes`, and evicts what is in its way; returns
    /// whether it is in the table. One that is larger than the table empties it (RFC 7541 §4.4).
    ///
    /// `entry.offset` is set here. `bytes` must not be this table's.
    @discardableResult
    mutating func insert(_ entry: TableEntry, bytes: UnsafeRawBufferPointer) -> Bool {
        guard add(entry) else { return false }
        store.append(contentsOf: bytes)
        return true
    }

    /// Inserts a field whose name and value are in two places, like ``insert(_:bytes:)``.
    @discardableResult
    mutating func insert(_ entry: TableEntry, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool {
        guard add(entry) else { return false }
        store.append(contentsOf: name)
        store.append(contentsOf: value)
        return true
    }

    /// Adds an entry whose bytes are what is appended to the store next, unless it is larger than the table.
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

/// A field in one of the tables: where its name and, right behind it, its value are, and what is known about them, so
/// that nothing is looked at again when a block refers to it.
struct TableEntry: Sendable {
    /// What RFC 7541 §4.1 counts for an entry besides its bytes.
    static let overhead = 32

    /// The place of the name's first byte, counted from the first byte that the table was ever given.
    var offset: Int
    var nameCount: UInt32
    var valueCount: UInt32
    var kind: FieldNameKind
    /// What is wrong with the name.
    var nameMalformation: HPACKMalformation
    /// What is wrong with the value.
    var valueMalformation: HPACKMalformation

    var byteCount: Int { Int(nameCount) &+ Int(valueCount) }

    /// The size as RFC 7541 §4.1 counts it.
    var size: Int { byteCount &+ Self.overhead }
}

/// What a name stands for.
enum FieldNameKind: Sendable, Equatable {
    case pseudo(HPACKPseudoFieldName)
    case unknownPseudo
    /// A regular field, which may be ``KnownField/other``.
    case field(KnownField)
}
