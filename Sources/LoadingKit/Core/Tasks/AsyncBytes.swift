import Foundation

extension URLSession {
    /// The body of a response as an asynchronous sequence of bytes, which can be read once.
    ///
    /// While the body is not read, its connection is not read either. When the sequence is released before its end, the
    /// task is cancelled.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// A byte of the body.
        public typealias Element = UInt8

        /// The task that loads the bytes.
        public let task: URLSessionDataTask
        let reader: BodyReader

        /// The largest number of bytes in a line of ``lines``, without its end: a server that sends no line end must
        /// not fill the memory. A longer line throws `URLError.dataLengthExceedsMaximum`. Default 16 MiB; `Int.max`: no
        /// limit.
        public var maximumLineSize = 16 << 20

        init(task: URLSessionDataTask, reader: BodyReader) {
            self.task = task
            self.reader = reader
        }

        /// Starts to read. The body is read once: each of several iterators gets different bytes.
        public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

        /// Iterates over the body's bytes.
        public struct Iterator: AsyncIteratorProtocol {
            private let reader: BodyReader
            private var piece: [UInt8] = []
            private var position = 0

            init(reader: BodyReader) { self.reader = reader }

            /// The next byte; nil at the end. Throws the load's error.
            public mutating func next() async throws -> UInt8? { try await next(isolation: nil) }

            /// The next byte, without leaving the caller's actor where a byte is already available.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> UInt8? {
                if position == piece.count {
                    guard let next = try await reader.nextBytes(isolation: actor) else { return nil }
                    piece = next
                    position = 0
                }
                defer { position += 1 }
                return piece[position]
            }
        }

        /// The body's pieces, as they are received: cheaper than single bytes.
        public var chunks: LoadedBody { LoadedBody(reader: reader) }

        /// The body's pieces as ``chunks`` has them, but each of at most `maxSize` bytes; at least 1.
        public func chunks(maxSize: Int) -> LoadedBody {
            LoadedBody(reader: reader, maximumSize: Swift.max(1, maxSize))
        }

        /// The body's lines, as UTF-8, without their ends: line feed, carriage return, both together, and Unicode's
        /// line ends. A line of more than ``maximumLineSize`` bytes is an error.
        public var lines: AsyncLineSequence<AsyncBytes> {
            AsyncLineSequence(reader: reader, limit: Swift.max(0, maximumLineSize))
        }

        /// The body's characters, as UTF-8. Bytes that are not UTF-8 become U+FFFD.
        public var characters: AsyncCharacterSequence<AsyncBytes> { AsyncCharacterSequence(reader: reader) }

        /// The body's Unicode scalars, as UTF-8. Bytes that are not UTF-8 become U+FFFD.
        public var unicodeScalars: AsyncUnicodeScalarSequence<AsyncBytes> { AsyncUnicodeScalarSequence(reader: reader) }
    }
}
