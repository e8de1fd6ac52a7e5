import Foundation

/// Cuts a body that comes in pieces into parts: a value. It holds one part, and what of a piece is beyond it.
struct PartCutter: Sendable {
    private let size: Int
    private var bytes = Data()

    init(size: Int) { self.size = max(1, size) }

    mutating func append(_ piece: Data) {
        if bytes.isEmpty { bytes = piece } else { bytes.append(piece) }
    }

    /// A full part; nil while it is not known that another byte follows, as the last part may not be empty.
    mutating func next() -> Data? {
        guard bytes.count > size else { return nil }
        let part = bytes.prefix(size)
        bytes = bytes.dropFirst(size)
        return part
    }

    /// What is left at the end: the last part.
    mutating func finish() -> Data {
        defer { bytes = Data() }
        return bytes
    }
}
