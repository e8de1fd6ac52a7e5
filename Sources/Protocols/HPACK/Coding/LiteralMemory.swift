import LoadingKitPrimitives

/// The last literal that each place among a block's literals had: a server that indexes nothing, as nginx, or whose
/// fields are not worth it sends the same again with each response, and what is the same to the byte is not decoded and
/// checked again.
///
/// What a literal means follows from its bytes alone, unless its name is in the dynamic table; its bytes determine where it
/// ends, so that comparing those that a literal had before is enough.
struct LiteralMemory: Sendable {
    /// Literals behind so many are not remembered.
    private static let places = 16
    /// What a literal may have, coded and decoded together, to be remembered.
    private static let room = 256

    private struct Literal {
        /// 0 where none is remembered.
        var codedCount: Int
        var entry: TableEntry
    }

    private var literals: [Literal] = []
    /// For each place the coded bytes, and behind them the name and the value.
    private var store: [UInt8] = []
    private var place = 0

    /// Comes before the first literal of a block.
    mutating func restart() { place = 0 }

    /// Where `bytes` begin with the literal that had this place, appends its name and value, and gives the field and the
    /// number of coded bytes. The next literal has the next place then.
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

    /// Remembers a literal that was not recalled, or with no coded bytes that it is none to be remembered.
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
