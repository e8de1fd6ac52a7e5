import Foundation
import LoadingKitTransport

/// A file that is a request's body. It is opened anew each time the body is sent.
package struct BodyFile: Sendable, Hashable {
    /// Whose bytes are sent.
    package let url: URL
    /// How many bytes are sent: the file's size when the task began. Nil before that.
    package private(set) var size: Int64?

    package init(_ url: URL) { self.url = url }

    /// Looks the file's size up; may block.
    func measured() throws -> BodyFile {
        var file = self
        file.size = try open().size
        return file
    }

    func open() throws -> OpenFile {
        guard url.isFileURL else {
            throw LoadFailure(.unsupportedURL, "a body is sent from a file: URL, which \(url.absoluteString) is not")
        }
        return try OpenFile.open(FilePath(url).path)
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
        let piece = try open.read(at: position, upTo: size)
        guard !piece.isEmpty else {
            let text =
                "the file \(file.url.path) was made shorter while it was sent: \(position) bytes of \(size) are left"
            throw LoadFailure(.requestBodyStreamExhausted, text)
        }
        position += Int64(piece.count)
        return piece
    }
}
