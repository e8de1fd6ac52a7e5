/// The lines of a response's body in UTF-8, without their ends: see ``URLSession/AsyncBytes/lines``.
///
/// A line ends with LF, CR, CR LF, VT, FF, NEL (U+0085), LS (U+2028) or PS (U+2029), as in Foundation. Empty lines are
/// omitted, as in Apple's sequence; bytes that are not UTF-8 become U+FFFD.
public struct AsyncLineSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A line.
    public typealias Element = String

    /// The bytes arrive in pieces: reading them one by one costs forty times as much.
    let reader: BodyReader
    /// The largest number of bytes in a line.
    let limit: Int

    /// Starts to read. The body is read once: each of several iterators gets different lines.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, limit: limit) }

    /// Iterates over the lines.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: BodyReader
        private var cutter: LineCutter
        private var isOver = false

        init(reader: BodyReader, limit: Int) {
            self.reader = reader
            cutter = LineCutter(limit: limit)
        }

        /// The next line; nil at the end. Throws the load's error, and `URLError.dataLengthExceedsMaximum` for a line
        /// that is too long.
        public mutating func next() async throws -> String? { try await next(isolation: nil) }

        /// The next line, without leaving the caller's actor where a line is already available.
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
