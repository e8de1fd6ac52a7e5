import LoadingKitPrimitives

/// The encoder's dynamic table, and how it finds fields in it.
///
/// Each entry knows the entry before it with the same hash of its name and value, and of its name alone. An entry
/// that was evicted ends such a chain by its number alone, so that nothing needs to be removed.
struct EncoderTable: Sendable {
    private(set) var table: DynamicTable
    private var fieldBuckets = [Int](repeating: -1, count: bucketCount)
    private var nameBuckets = [Int](repeating: -1, count: bucketCount)
    /// A ring, as large as a power of two: that of the entry with number n is at n modulo its size.
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

    /// The index of the entry with this name and value, or nil.
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

    /// The index of an entry with this name, or nil.
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

    /// Whether an entry whose name has the hash of the field's has its value and name.
    @inline(__always)
    private func matches(_ number: Int, _ field: HashedField) -> Bool {
        let entry = table.entry(number: number)
        guard Int(entry.valueCount) == field.value.count else { return false }
        let isValue = table.withBytes(of: entry) {
            Bytes.areEqual(UnsafeRawBufferPointer(rebasing: $0[Int(entry.nameCount)...]), field.value)
        }
        return isValue && hasName(number, field)
    }

    /// Whether an entry whose name has the hash of the field's has its name.
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
        // All but the newest, which has no link yet.
        for number in table.oldestNumber..<table.insertions - 1 {
            larger[number & (larger.count - 1)] = links[number & (links.count - 1)]
        }
        links = larger
    }

    private static func bucket(_ hash: UInt32) -> Int { Int(hash & UInt32(bucketCount - 1)) }
}
