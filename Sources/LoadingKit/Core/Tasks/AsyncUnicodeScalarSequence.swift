/// The Unicode scalars of a response's body in UTF-8: see ``URLSession/AsyncBytes/unicodeScalars``. Bytes that are not
/// UTF-8 become U+FFFD.
public struct AsyncUnicodeScalarSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A scalar.
    public typealias Element = Unicode.Scalar

    let reader: BodyReader

    /// Starts to read. The body is read once: each of several iterators gets different scalars.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// Iterates over the scalars.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: BodyReader
        private var text = UTF8Pieces()
        private var ready = "".unicodeScalars
        private var place = "".unicodeScalars.startIndex
        private var isOver = false

        init(reader: BodyReader) { self.reader = reader }

        /// The next scalar; nil at the end. Throws the load's error.
        public mutating func next() async throws -> Unicode.Scalar? { try await next(isolation: nil) }

        /// The next scalar, without leaving the caller's actor where a scalar is already available.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Unicode.Scalar? {
            while place == ready.endIndex {
                if isOver { return nil }
                let bytes = try await reader.nextBytes(isolation: actor)
                isOver = bytes == nil
                ready = (bytes.map { text.receive($0) } ?? text.finish()).unicodeScalars
                place = ready.startIndex
            }
            defer { place = ready.index(after: place) }
            return ready[place]
        }
    }
}

extension AsyncUnicodeScalarSequence: Sendable where Base: Sendable {}

@available(*, unavailable)
extension AsyncUnicodeScalarSequence.Iterator: Sendable {}
