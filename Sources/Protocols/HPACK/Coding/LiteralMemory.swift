import LoadingKitPrimitives

/// The last literal at each position among a block's literals. A server that indexes no fields, such as nginx, or
/// fields that are not worth indexing, repeats the same literals in each response. A literal with identical bytes is
/// not decoded and checked again.
///
/// A literal's bytes determine its field, unless its name is in the dynamic table. The bytes also determine where it
/// ends, so comparing the bytes of the former literal is sufficient.
struct LiteralMemory: Sendable {
    /// The number of positions. Literals behind them are not remembered.
    private static let places = 16
    /// The largest size of a literal that is remembered, coded and decoded form together, in bytes.
    private static let room = 256

    private struct Literal {
        /// 0 if no literal is remembered.
        var codedCount: Int
        var entry: TableEntry
    }

    private var literals: [Literal] = []
    /// For each position the coded bytes, followed by the name and the value.
    private var store: [UInt8] = []
    private var place = 0

    /// Must be called before the first literal of a block.
    mutating func restart() { place = 0 }

    /// If `bytes` begin with the last literal at this position, appends its name and value, returns the field and the
    /// number of coded bytes, and moves to the next position.
    @inline(__always)
    mutating func recall(
        _ bytes: UnsafeRawBufferPointer, to builder: inout ByteBuilder
    ) -> (entry: TableEntry, codedCount: Int)? {
        guard place < literals.count else { return nil }
        let (count, entry) = (literals[place].codedCount, literals[place].entry)
        guard count > 0, count <= bytes.count else { return nil }
        let start = place &* Self.room
        let isSame = store.withUnsafeBytes { store in
            guard
                Bytes.areEqual(
                    UnsafeRawBufferPointer(rebasing: bytes[..<count]),
                    UnsafeRawBufferPointer(rebasing: store[start..<start &+ count]))
            else { return false }
            let decoded = start &+ count
            builder.append(UnsafeRawBufferPointer(rebasing: store[decoded..<decoded &+ entry.byteCount]))
            return true
        }
        guard isSame else { return nil }
        place &+= 1
        return (entry, count)
    }

    /// Remembers a literal that was not recalled. Without coded bytes, it records that this literal is not remembered.
    mutating func note(_ coded: UnsafeRawBufferPointer, _ entry: TableEntry, decoded: UnsafeRawBufferPointer) {
        guard place < Self.places else { return }
        defer { place += 1 }
        let isKept = coded.count + decoded.count <= Self.room
        let literal = Literal(codedCount: isKept ? coded.count : 0, entry: entry)
        if place < literals.count {
            literals[place] = literal
        } else {
            literals.append(literal)
            store.append(contentsOf: repeatElement(0, count: Self.room))
        }
        guard isKept else { return }
        store.withUnsafeMutableBytes { store in
            let slot = UnsafeMutableRawBufferPointer(rebasing: store[(place * Self.room)...])
            slot.copyMemory(from: coded)
            UnsafeMutableRawBufferPointer(rebasing: slot[coded.count...]).copyMemory(from: decoded)
        }
    }
}
