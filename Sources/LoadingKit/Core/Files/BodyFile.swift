import Foundation
import LoadingKitTransport

/// A file that is a request's body, or a part of it. It is opened anew each time the body is sent.
package struct BodyFile: Sendable, Hashable {
    /// Whose bytes are sent.
    package let url: URL
    /// Where in the file they begin.
    package private(set) var start: Int64 = 0
    /// How many bytes are sent: the file's size when the task began, or a part's. Nil before that.
    package private(set) var size: Int64?
    /// When the file had been changed last, in nanoseconds since 1970, when the task began. Nil before that.
    package private(set) var modified: Int64?

    package init(_ url: URL) { self.url = url }

    /// The file as an upload was begun with it.
    package init(_ url: URL, size: Int64, modified: Int64) {
        self.url = url
        self.size = size
        self.modified = modified
    }

    /// Looks the file's size and time up; may block. Throws where it is not as the upload was begun with it.
    func measured() throws -> BodyFile {
        var file = self
        let open = try open()
        if size != nil { try check(open) }
        file.size = open.size
        file.modified = open.modified
        return file
    }

    /// A part of a file that was measured.
    package func part(from start: Int64, count: Int64) -> BodyFile {
        var part = self
        part.start = self.start + start
        part.size = count
        return part
    }

    func open() throws -> OpenFile {
        guard url.isFileURL else {
            throw LoadFailure(.unsupportedURL, "a body is sent from a file: URL, which \(url.absoluteString) is not")
        }
        let file = try OpenFile.open(FilePath(url).path)
        // What was sent before is of the file as it was.
        if start > 0 { try check(file) }
        return file
    }

    private func check(_ open: OpenFile) throws {
        let isLonger = start == 0 && size != open.size
        guard isLonger || modified != open.modified else { return }
        throw LoadFailure(
            .requestBodyStreamExhausted,
            "the upload cannot go on: the file \(url.path) was changed since it was begun")
    }
}

/// Reads a file that is a body, on the pool of threads for what blocks.
package final class BodyFileReader: BodySource, @unchecked Sendable {  // one read at a time, each on one thread
    private let file: BodyFile
    private var open: OpenFile?
    private var position: Int64 = 0

    package init(_ file: BodyFile) { self.file = file }

    package func read(_ done: @escaping @Sendable (Result<Data?, any Error>) -> Void) {
        BlockingPool.shared.run { done(Result { try self.readBlocking() }) }
    }

    private func readBlocking() throws -> Data? {
        let open = try self.open ?? file.open()
        self.open = open
        let size = file.size ?? open.size
        guard position < size else { return nil }
        let piece = try open.read(at: file.start + position, upTo: file.start + size)
        guard !piece.isEmpty else {
            let text =
                "the file \(file.url.path) was made shorter while it was sent: \(position) bytes of \(size) are left"
            throw LoadFailure(.requestBodyStreamExhausted, text)
        }
        position += Int64(piece.count)
        return piece
    }
}
