import Foundation
import LoadingKitTransport

/// A file that is a request's body, or a part of it. It is opened again each time the body is sent.
package struct BodyFile: Sendable, Hashable {
    package let url: URL
    /// The offset of the first byte to send.
    package private(set) var start: Int64 = 0
    /// The number of bytes to send: the file's size when the task started, or a part's size. Nil before that.
    package private(set) var size: Int64?
    /// The file's modification time when the task started, in nanoseconds since 1970. Nil before that.
    package private(set) var modified: Int64?

    package init(_ url: URL) { self.url = url }

    /// The file with the size and time that it had when the upload started.
    package init(_ url: URL, size: Int64, modified: Int64) {
        self.url = url
        self.size = size
        self.modified = modified
    }

    /// Determines the file's size and time; may block. Throws where they differ from those at the upload's start.
    func measured() throws -> BodyFile {
        var file = self
        let open = try open()
        if size != nil { try check(open) }
        file.size = open.size
        file.modified = open.modified
        return file
    }

    package func part(from start: Int64, count: Int64) -> BodyFile {
        var part = self
        part.start = self.start + start
        part.size = count
        return part
    }

    func open() throws -> OpenFile {
        guard url.isFileURL else {
            throw LoadFailure(.unsupportedURL, "the body's URL must be a file: URL, not \(url.absoluteString)")
        }
        let file = try OpenFile.open(FilePath(url).path)
        // The bytes sent before are those of the unchanged file.
        if start > 0 { try check(file) }
        return file
    }

    private func check(_ open: OpenFile) throws {
        let isLonger = start == 0 && size != open.size
        guard isLonger || modified != open.modified else { return }
        throw LoadFailure(
            .requestBodyStreamExhausted,
            "the upload cannot continue: the file \(url.path) has changed since the upload started")
    }
}

/// Reads a file that is a body. Bytes that the system has in memory are sent from there or read at once, others are read
/// on the thread pool for blocking work.
package final class BodyFileReader: BodySource, @unchecked Sendable {  // one read at a time, each on one thread
    private let file: BodyFile
    private var open: OpenFile?
    private var position: Int64 = 0

    /// A shorter piece is read, which costs less than to ask whether the system has it in memory.
    private static let smallestFilePiece: Int64 = 64 * 1024

    package init(_ file: BodyFile) { self.file = file }

    package func readPiece(
        for stream: ByteStream, _ done: @escaping @Sendable (Result<BodyPiece?, any Error>) -> Void
    ) {
        if stream.sendsFiles, let piece = filePiece() { return done(.success(piece)) }
        read { done($0.map { $0.map(BodyPiece.bytes) }) }
    }

    /// The next piece, if the system has it in memory.
    private func filePiece() -> BodyPiece? {
        guard let open else { return nil }
        let (start, count) = (file.start + position, min(size(open) - position, OpenFile.pieceSize))
        guard count >= Self.smallestFilePiece, open.hasInMemory(at: start, count: Int(count)) else { return nil }
        position += count
        return .file(open, start: start, count: Int(count))
    }

    package func read(_ done: @escaping @Sendable (Result<Data?, any Error>) -> Void) {
        if let open {
            if position >= size(open) { return done(.success(nil)) }
            if let piece = open.readFromMemory(at: file.start + position, upTo: file.start + size(open)) {
                position += Int64(piece.count)
                return done(.success(piece))
            }
        }
        BlockingPool.shared.run { done(Result { try self.readBlocking() }) }
    }

    private func size(_ open: OpenFile) -> Int64 { file.size ?? open.size }

    private func readBlocking() throws -> Data? {
        let open = try self.open ?? file.open()
        self.open = open
        let size = size(open)
        guard position < size else { return nil }
        let piece = try open.read(at: file.start + position, upTo: file.start + size)
        guard !piece.isEmpty else { throw open.missing(file.start + position) }
        position += Int64(piece.count)
        return piece
    }
}
