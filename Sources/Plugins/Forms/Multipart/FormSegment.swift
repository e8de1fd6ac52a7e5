import Foundation

/// A run of a body's bytes, and their source.
enum FormSegment: Sendable {
    case bytes(Data)
    /// A file that had this size when the body was made.
    case file(path: String, size: Int64)
    case stream(part: String, length: Int64?, make: @Sendable () throws -> InputStream)
    case pieces(part: String, length: Int64?, produce: PieceBridge.Producer)

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
}

/// The source of the bytes of one segment. Used by one thread at a time.
protocol FormSource: AnyObject {
    /// Whether `read` may wait for the program's code.
    var mayBlock: Bool { get }
    /// Reads bytes into the buffer, which is not empty, and returns their number; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// Bytes in memory.
final class DataSource: FormSource {
    private let data: Data
    private var position = 0

    init(_ data: Data) { self.data = data }

    let mayBlock = false

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, data.count - position)
        data.withUnsafeBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[position..<position + count]))
        }
        position += count
        return count
    }
}

/// A stream of the program.
final class StreamSource: FormSource {
    private let part: String
    private let stream: InputStream

    init(part: String, _ make: @Sendable () throws -> InputStream) throws(MultipartFormError) {
        self.part = part
        do { stream = try make() } catch { throw .sourceFailed(part: part, reason: String(describing: error)) }
        if stream.streamStatus == .notOpen { stream.open() }
    }

    deinit { stream.close() }

    let mayBlock = true

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let base = buffer.bindMemory(to: UInt8.self).baseAddress else { return 0 }
        let count = stream.read(base, maxLength: buffer.count)
        if count >= 0, stream.streamStatus != .error { return min(count, buffer.count) }
        // Reading `streamError` where there is no error ends the process.
        let error = stream.streamStatus == .error ? stream.streamError : nil
        throw MultipartFormError.sourceFailed(
            part: part, reason: error.map { String(describing: $0) } ?? "the stream gives no reason")
    }
}

/// The pieces of an asynchronous sequence.
final class PieceSource: FormSource {
    private let part: String
    private let bridge: PieceBridge
    private var piece = DataSource(Data())

    init(part: String, _ bridge: PieceBridge) {
        self.part = part
        self.bridge = bridge
    }

    deinit { bridge.cancel() }

    let mayBlock = true

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = piece.read(into: buffer)
            if count > 0 { return count }
            do {
                guard let next = try bridge.next() else { return 0 }
                piece = DataSource(next)
            } catch {
                throw MultipartFormError.sourceFailed(part: part, reason: String(describing: error))
            }
        }
    }
}

/// Checks that another source delivers the expected number of bytes.
final class CountedSource: FormSource {
    private let part: String
    private let expected: Int64
    private var found: Int64 = 0
    private let base: any FormSource

    init(_ base: any FormSource, part: String, expected: Int64) {
        self.base = base
        self.part = part
        self.expected = expected
    }

    var mayBlock: Bool { base.mayBlock }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = try base.read(into: buffer)
        found += Int64(count)
        guard count > 0 ? found <= expected : found == expected else {
            throw MultipartFormError.wrongLength(part: part, expected: expected, found: found)
        }
        return count
    }
}
