import Foundation
import LoadingKitTransport

/// The unsent rest of a piece of a request's body.
package enum BodyPiece: Sendable {
    case bytes(Data)
    /// Bytes of a file that the system has in memory, and sends from there.
    case file(OpenFile, start: Int64, count: Int)

    package static var empty: BodyPiece { .bytes(Data()) }

    package var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(_, _, let count): count
        }
    }

    package var isEmpty: Bool { count == 0 }

    /// Removes bytes that were sent.
    package mutating func removeFirst(_ sent: Int) {
        switch self {
        case .bytes(let bytes): self = .bytes(bytes.dropFirst(sent))
        case .file(let file, let start, let count):
            self = .file(file, start: start + Int64(sent), count: count - sent)
        }
    }

    /// Writes the control bytes, and the piece's bytes after them, as many as there is room for.
    package func write(
        after control: UnsafeRawBufferPointer = .init(start: nil, count: 0), to stream: ByteStream
    ) throws -> ByteStream.WriteResult {
        switch self {
        case .bytes(let bytes): return bytes.withUnsafeBytes { stream.write(control, $0) }
        case .file(let file, let start, let count):
            guard control.isEmpty else { return stream.write(control) }
            return try file.send(at: start, count: count, to: stream)
        }
    }
}
