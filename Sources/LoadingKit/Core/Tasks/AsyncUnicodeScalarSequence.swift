/// The Unicode scalars of a response's body in UTF-8: see ``URLSession/AsyncBytes/unicodeScalars``. Bytes that are not UTF-8 become
/// U+FFFD.
public struct AsyncUnicodeScalarSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A scalar.
    public typealias Element = Unicode.Scalar

    let reader: BodyReader

    /// Begins to read. The body is read once: of several iterators each gets what the others do not.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// Gives the scalars.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: BodyReader
        private var text = UTF8Pieces()
        private var ready = "".unicodeScalars
        private var place = "".unicodeScalars.startIndex
        private var isOver = false

        init(reader: BodyReader) { self.reader = reader }

        /// The next one; nil at the end. Throws what the load failed with.
        public mutating func next() async throws -> Unicode.Scalar? { try await next(isolation: nil) }

        /// The next one, without leaving the caller's actor where one is there already.
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
