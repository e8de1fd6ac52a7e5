import DequeModule
import Foundation

/// The pieces of a shared body between the load that delivers them and callers that take them at their own pace.
///
/// A piece is removed when all callers have taken it.
struct FlightBuffer: Sendable {
    enum Next: Equatable {
        case piece(Data)
        /// There is no piece yet.
        case none
        /// The buffer does not have this caller.
        case gone
    }

    private struct Piece: Sendable {
        var data: Data
        /// The number of callers that have not taken the piece.
        var missing: Int
    }

    /// Pieces smaller than this are merged, so that many small pieces cost no more than few large ones.
    private static let smallest = 16 << 10

    private var pieces = Deque<Piece>()
    /// The number of the first piece.
    private var base = 0
    /// The number of the piece that a caller takes next.
    private var positions: [UInt64: Int] = [:]
    private(set) var count = 0
    /// The number of bytes that may wait for the slowest caller.
    private let limit: Int

    init(limit: Int) { self.limit = max(1, limit) }

    var hasRoom: Bool { count < limit }
    /// Whether a new caller would get the body from its first byte.
    var isWhole: Bool { base == 0 }
    var callers: Int { positions.count }

    mutating func join(_ id: UInt64) {
        guard isWhole, positions[id] == nil else { return }
        positions[id] = 0
        for index in pieces.indices { pieces[index].missing += 1 }
    }

    mutating func leave(_ id: UInt64) {
        guard let position = positions.removeValue(forKey: id) else { return }
        for index in pieces.indices.dropFirst(position - base) { pieces[index].missing -= 1 }
        trim()
    }

    mutating func append(_ data: Data) {
        guard !data.isEmpty, !positions.isEmpty else { return }
        count += data.count
        if let last = pieces.indices.last, pieces[last].missing == positions.count,
            pieces[last].data.count < Self.smallest
        {
            pieces[last].data.append(data)
        } else {
            pieces.append(Piece(data: data, missing: positions.count))
        }
    }

    mutating func next(_ id: UInt64) -> Next {
        guard let position = positions[id] else { return .gone }
        let index = position - base
        guard index < pieces.count else { return .none }
        positions[id] = position + 1
        pieces[index].missing -= 1
        let data = pieces[index].data
        merge(at: index)
        trim()
        return .piece(data)
    }

    /// Merges a small piece into the small piece before it, if each caller has taken both or neither.
    private mutating func merge(at index: Int) {
        guard index > 0, pieces[index].missing == pieces[index - 1].missing,
            max(pieces[index].data.count, pieces[index - 1].data.count) < Self.smallest
        else { return }
        let piece = pieces.remove(at: index)
        pieces[index - 1].data.append(piece.data)
        for (id, position) in positions where position > base + index { positions[id] = position - 1 }
    }

    /// Removes the callers that have taken the least, if others have taken everything.
    mutating func dropSlowest() -> [UInt64] {
        guard positions.values.contains(base + pieces.count) else { return [] }
        let slowest = positions.filter { $0.value == base && !pieces.isEmpty }.map(\.key).sorted()
        for id in slowest { leave(id) }
        return slowest
    }

    private mutating func trim() {
        while let piece = pieces.first, piece.missing <= 0 {
            count -= piece.data.count
            pieces.removeFirst()
            base += 1
        }
    }
}
