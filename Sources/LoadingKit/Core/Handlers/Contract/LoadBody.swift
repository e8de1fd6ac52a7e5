import Foundation

/// A request's body as an asynchronous sequence of its pieces, for every kind of body.
///
/// Data or a file can be read repeatedly. A stream is read as it is consumed, off the calling task's thread, and only
/// once: a second iteration throws `URLError.requestBodyStreamExhausted`.
public struct LoadBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    fileprivate enum Source: Sendable {
        case none
        case data(Data)
        case stream(BodyStreamReader)
        case file(BodyFile)
        /// A file with a read in progress.
        case reading(BodyFileReader)
    }

    private let source: Source
    /// The request's URL, for errors.
    private let url: URL

    init(_ request: URLRequest, url: URL) {
        self.url = url
        if let data = request.httpBody {
            source = .data(data)
        } else if let stream = request.httpBodyStream {
            source = .stream(BodyStreamReader(stream))
        } else if let file = request.bodyFile {
            source = .file(file)
        } else {
            source = .none
        }
    }

    /// Whether there is no body.
    public var isEmpty: Bool {
        if case .none = source { true } else { false }
    }

    /// The body's size in bytes; nil when it is unknown.
    public var count: Int? {
        switch source {
        case .none: 0
        case .data(let data): data.count
        case .file(let file): file.size.map { Int(clamping: $0) }
        case .stream, .reading: nil
        }
    }

    /// Returns the complete body.
    ///
    /// - Parameter limit: a body of more bytes throws `URLError.dataLengthExceedsMaximum`. Default 64 MiB.
    public func collect(upTo limit: Int = 64 << 20) async throws -> Data {
        var whole = Data()
        for try await piece in self {
            whole.append(piece)
            if whole.count > limit {
                let text = "the request's body has more than \(limit) bytes"
                throw URLError(LoadFailure(.dataLengthExceedsMaximum, text), url: url)
            }
        }
        return whole
    }

    /// Starts an iteration over the body.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source, url: url) }

    /// Iterates over the body's pieces.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var source: Source
        private let url: URL
        private var hasBegun = false

        fileprivate init(source: Source, url: URL) { (self.source, self.url) = (source, url) }

        /// The next piece; nil at the end. Throws a `URLError` where the body cannot be read.
        public mutating func next() async throws -> Data? {
            do { return try await nextPiece() } catch { throw URLError(error, url: url) }
        }

        private mutating func nextPiece() async throws -> Data? {
            let isFirst = !hasBegun
            hasBegun = true
            switch source {
            case .none: return nil
            case .data(let data): return isFirst && !data.isEmpty ? data : nil
            case .stream(let reader):
                if isFirst { try reader.claim() }
                let piece = try await reader.read()
                // The reader has closed its stream, and a read of a closed stream is an error.
                if piece == nil { source = .none }
                return piece
            case .file(let file):
                let reader = BodyFileReader(file)
                source = .reading(reader)
                return try await reader.read()
            case .reading(let reader):
                return try await reader.read()
            }
        }
    }
}
