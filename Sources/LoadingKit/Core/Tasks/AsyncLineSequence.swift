/// The lines of a response's body in UTF-8, without their ends: see ``URLSession/AsyncBytes/lines``.
///
/// A line ends with LF, CR, CR LF, VT, FF, NEL (U+0085), LS (U+2028) or PS (U+2029), as Foundation has it. Empty lines
/// are left out, as Apple's sequence leaves them out; bytes that are not UTF-8 become U+FFFD.
public struct AsyncLineSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A line.
    public typealias Element = String

    /// The bytes come in pieces: to take them one by one costs forty times as much.
    let reader: BodyReader
    /// Bytes that a line may have.
    let limit: Int

    /// Begins to read. The body is read once: of several iterators each gets what the others do not.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, limit: limit) }

    /// Gives the lines.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: BodyReader
        private var cutter: LineCutter
        private var isOver = false

        init(reader: BodyReader, limit: Int) {
            self.reader = reader
            cutter = LineCutter(limit: limit)
        }

        /// The next line; nil at the end. Throws what the load failed with, and `URLError.dataLengthExceedsMaximum` for a line
        /// that is too long.
        public mutating func next() async throws -> String? { try await next(isolation: nil) }

        /// The next line, without leaving the caller's actor where one is there already.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
            while !isOver {
                if let line = try cutter.next() { return line }
                if let bytes = try await reader.nextBytes(isolation: actor) {
                    cutter.receive(bytes)
                } else {
                    isOver = true
                }
            }
            return try cutter.finish()
        }
    }
}

extension AsyncLineSequence: Sendable where Base: Sendable {}

@available(*, unavailable)
extension AsyncLineSequence.Iterator: Sendable {}
