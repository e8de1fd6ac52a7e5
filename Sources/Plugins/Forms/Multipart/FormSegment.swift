import Foundation

/// A run of a body's bytes, and their source.
enum FormSegment: Sendable {
    case bytes(Data)
    /// A file that had this size when the body was made.
    case file(path: String, size: Int64)
    case stream(part: String, length: Int64?, make: @Sendable () throws -> InputStream)
    case pieces(part: String, length: Int64?, produce: Producer)

    /// Passes each piece to `deliver`, which returns when the piece was taken.
    typealias Producer = @Sendable (_ deliver: @Sendable (Data) async throws -> Void) async throws -> Void

    /// Determines a file's size, where the content is a file.
    init(_ part: MultipartForm.Part) throws(MultipartFormError) {
        switch part.content {
        case .data(let data): self = .bytes(data)
        case .file(let url):
            guard url.isFileURL else { throw .notARegularFile(path: url.absoluteString) }
            self = .file(path: url.path, size: try FormFile.size(of: url.path))
        case .stream(let length, let make): self = .stream(part: part.name, length: length, make: make)
        case .pieces(let length, let produce): self = .pieces(part: part.name, length: length, produce: produce)
        }
    }

    /// The number of bytes; nil where it is not known.
    var length: Int64? {
        switch self {
        case .bytes(let data): Int64(data.count)
        case .file(_, let size): size
        case .stream(_, let length, _), .pieces(_, let length, _): length
        }
    }

    /// Whether reading may block a thread by the program's code.
    var mayBlock: Bool { if case .stream = self { true } else { false } }
    var isSequence: Bool { if case .pieces = self { true } else { false } }
}

extension Data {
    /// Moves bytes from the data's beginning into the buffer, and returns their number.
    mutating func move(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = prefix(buffer.count).copyBytes(to: buffer)
        self = dropFirst(count)
        return count
    }
}

final class StreamSource {
    private let part: String
    private let stream: InputStream

    init(part: String, _ make: @Sendable () throws -> InputStream) throws(MultipartFormError) {
        self.part = part
        do { stream = try make() } catch { throw .sourceFailed(part: part, reason: String(describing: error)) }
        if stream.streamStatus == .notOpen { stream.open() }
    }

    deinit { stream.close() }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let base = buffer.bindMemory(to: UInt8.self).baseAddress else { return 0 }
        let count = stream.read(base, maxLength: buffer.count)
        if count >= 0, stream.streamStatus != .error { return min(count, buffer.count) }
        // Reading `streamError` where there is no error ends the process.
        let error = stream.streamStatus == .error ? stream.streamError : nil
        throw MultipartFormError.sourceFailed(
            part: part, reason: error.map { String(describing: $0) } ?? "the stream has no error")
    }
}
