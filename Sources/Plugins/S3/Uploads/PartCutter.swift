import Foundation

/// Divides a body that arrives in pieces into parts: a value. It holds one part, and the excess bytes of a piece.
struct PartCutter: Sendable {
    private let size: Int
    private var bytes = Data()

    init(size: Int) { self.size = max(1, size) }

    mutating func append(_ piece: Data) {
        if bytes.isEmpty { bytes = piece } else { bytes.append(piece) }
    }

    /// A full part; nil until a further byte is known to follow, because the last part must not be empty.
    mutating func next() -> Data? {
        guard bytes.count > size else { return nil }
        let part = bytes.prefix(size)
        bytes = bytes.dropFirst(size)
        return part
    }

    /// The rest at the end: the last part.
    mutating func finish() -> Data {
        defer { bytes = Data() }
        return bytes
    }
}
