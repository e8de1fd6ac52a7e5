import DequeModule

/// Bytes of a body that wait for their reader, in pieces of the size that a slow reader gets. Small frames share a
/// piece, so that the memory in use is little more than the received bytes.
struct HeldBytes {
    static let pieceSize = 64 * 1024

    private var pieces = Deque<[UInt8]>()

    var isEmpty: Bool { pieces.isEmpty }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if let last = pieces.indices.last, pieces[last].count < Self.pieceSize {
                let part = rest.prefix(Self.pieceSize - pieces[last].count)
                pieces[last].append(contentsOf: part)
                rest = rest.dropFirst(part.count)
            } else {
                pieces.append(Array(rest.prefix(Self.pieceSize)))
                rest = rest.dropFirst(Self.pieceSize)
            }
        }
    }

    mutating func takeFirst() -> [UInt8]? { pieces.popFirst() }
}
