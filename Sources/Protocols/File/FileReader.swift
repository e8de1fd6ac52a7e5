import Foundation
import LoadingKitCore

/// Reads a file's bytes in order, one piece at a time, and determines their total number.
struct FileReader {
    private enum Extent {
        /// No bytes are read yet. The first piece shows whether the size from the system is correct.
        case whole(size: Int64)
        case range(Range<Int64>)
        /// Files in `/proc` have the size 0, and files in `/sys` a size that is too large. They are read to their end.
        case untilEnd
    }

    private let file: OpenFile
    private var extent: Extent
    private var position: Int64 = 0

    /// - Parameter rangeField: the request's `Range` field.
    init(_ file: OpenFile, rangeField: String?) throws {
        self.file = file
        guard let wanted = rangeField.flatMap(ByteRange.init) else {
            extent = .whole(size: file.size)
            return
        }
        // A copy that is complete can be continued, as with curl: nothing follows. A file in `/proc` has the size 0.
        let rest = file.size > 0 && wanted == .from(file.size, through: nil) ? file.size..<file.size : nil
        guard let range = wanted.resolved(total: file.size) ?? rest else {
            throw LoadFailure(
                .resourceUnavailable, "the range lies behind the end of the file, which has \(file.size) bytes")
        }
        extent = .range(range)
        position = range.lowerBound
    }

    /// The total number of bytes to read; nil if it is known only at the end. Valid after a piece is read.
    var length: Int64? {
        switch extent {
        case .whole(let size): size
        case .range(let range): Int64(range.count)
        case .untilEnd: nil
        }
    }

    /// The next bytes; nil if there are no more.
    mutating func next() async throws -> Data? {
        switch extent {
        case .whole(let size): return try await first(size)
        case .untilEnd: return try await read(upTo: .max)
        case .range(let range):
            guard position < range.upperBound else { return nil }
            if let piece = try await read(upTo: range.upperBound) { return piece }
            throw LoadFailure(.networkConnectionLost, "the file ended early: it was made shorter while it was read")
        }
    }

    private mutating func first(_ size: Int64) async throws -> Data? {
        let piece = try await read(upTo: size > 0 ? size : .max)
        let isSizeRight = Int64(piece?.count ?? 0) == min(size, OpenFile.pieceSize)
        extent = isSizeRight ? .range(0..<size) : .untilEnd
        return piece
    }

    private mutating func read(upTo end: Int64) async throws -> Data? {
        let piece = try await file.read(at: position, upTo: end)
        position += Int64(piece.count)
        return piece.isEmpty ? nil : piece
    }
}
