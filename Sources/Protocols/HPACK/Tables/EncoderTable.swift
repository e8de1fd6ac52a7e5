import LoadingKitPrimitives

/// The encoder's dynamic table, and the hash chains by which fields are found in it.
///
/// Each entry refers to the previous entry with the same hash of name and value, and to the previous entry with the
/// same hash of the name. The number of an evicted entry ends such a chain, so that no links need to be removed.
struct EncoderTable: Sendable {
    private(set) var table: DynamicTable
    private var fieldBuckets = [Int](repeating: -1, count: bucketCount)
    private var nameBuckets = [Int](repeating: -1, count: bucketCount)
    /// A ring whose size is a power of two: the link of entry n is at position n modulo the size.
    private var links: [Link] = []

    private static let bucketCount = 128

    private struct Link {
        var fieldHash: UInt32 = 0
        var nameHash: UInt32 = 0
        var previousField = -1
        var previousName = -1
    }

    init(maximumSize: Int) { table = DynamicTable(maximumSize: maximumSize) }

    mutating func setMaximumSize(_ size: Int) { table.setMaximumSize(size) }

    /// The index of the entry with this name and value; nil if there is none.
    func index(of field: HashedField) -> Int? {
        var number = fieldBuckets[Self.bucket(field.fieldHash)]
        while number >= table.oldestNumber {
            let link = links[number & (links.count &- 1)]
            if link.fieldHash == field.fieldHash, link.nameHash == field.nameHash, matches(number, field) {
                return index(number)
            }
            number = link.previousField
        }
        return nil
    }

    /// The index of an entry with this name; nil if there is none.
    func nameIndex(of field: HashedField) -> Int? {
        var number = nameBuckets[Self.bucket(field.nameHash)]
        while number >= table.oldestNumber {
            let link = links[number & (links.count &- 1)]
            if link.nameHash == field.nameHash, hasName(number, field) { return index(number) }
            number = link.previousName
        }
        return nil
    }

    /// Inserts a field, which must not be larger than the table.
    mutating func insert(_ field: HashedField) {
        let entry = TableEntry(
            offset: 0, nameCount: UInt32(truncatingIfNeeded: field.name.count),
            valueCount: UInt32(truncatingIfNeeded: field.value.count), kind: .field(.other),
            nameMalformation: [], valueMalformation: [])
        let number = table.insertions
        guard table.insert(entry, name: field.name, value: field.value) else { return }
        if table.count > links.count { growLinks() }
        let (fieldBucket, nameBucket) = (Self.bucket(field.fieldHash), Self.bucket(field.nameHash))
        links[number & (links.count &- 1)] = Link(
            fieldHash: field.fieldHash, nameHash: field.nameHash, previousField: fieldBuckets[fieldBucket],
            previousName: nameBuckets[nameBucket])
        fieldBuckets[fieldBucket] = number
        nameBuckets[nameBucket] = number
    }

    private func index(_ number: Int) -> Int { StaticTable.count &+ table.insertions &- number }

    /// Whether an entry has the field's name and value. The hashes of the names are equal.
    @inline(__always)
    private func matches(_ number: Int, _ field: HashedField) -> Bool {
        let entry = table.entry(number: number)
        guard Int(entry.valueCount) == field.value.count else { return false }
        let isValue = table.withBytes(of: entry) {
            Bytes.areEqual(UnsafeRawBufferPointer(rebasing: $0[Int(entry.nameCount)...]), field.value)
        }
        return isValue && hasName(number, field)
    }

    /// Whether an entry has the field's name. The hashes of the names are equal.
    @inline(__always)
    private func hasName(_ number: Int, _ field: HashedField) -> Bool {
        if field.isNameKnown { return true }
        let entry = table.entry(number: number)
        return table.withBytes(of: entry) {
            Bytes.areEqual(UnsafeRawBufferPointer(rebasing: $0[..<Int(entry.nameCount)]), field.name)
        }
    }

    private mutating func growLinks() {
        var larger = [Link](repeating: Link(), count: max(16, links.count * 2))
        // All entries except the newest, which has no link yet.
        for number in table.oldestNumber..<table.insertions - 1 {
            larger[number & (larger.count - 1)] = links[number & (links.count - 1)]
        }
        links = larger
    }

    private static func bucket(_ hash: UInt32) -> Int { Int(hash & UInt32(bucketCount - 1)) }
}
