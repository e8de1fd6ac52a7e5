/// The characters of a response's body in UTF-8: see ``URLSession/AsyncBytes/characters``. Bytes that are not UTF-8 become U+FFFD.
///
/// A character is as Swift has it, of any number of scalars. One of more than 64 KiB is cut.
public struct AsyncCharacterSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A character.
    public typealias Element = Character

    let reader: BodyReader

    /// Begins to read. The body is read once: of several iterators each gets what the others do not.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// Gives the characters.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: BodyReader
        private var text = UTF8Pieces()
        private var cutter = CharacterCutter()
        private var isOver = false

        init(reader: BodyReader) { self.reader = reader }

        /// The next one; nil at the end. Throws what the load failed with.
        public mutating func next() async throws -> Character? { try await next(isolation: nil) }

        /// The next one, without leaving the caller's actor where one is there already.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Character? {
            while true {
                if let character = cutter.next() { return character }
                if isOver { return cutter.finish() }
                let bytes = try await reader.nextBytes(isolation: actor)
                isOver = bytes == nil
                cutter.receive(bytes.map { text.receive($0) } ?? text.finish())
            }
        }
    }
}

extension AsyncCharacterSequence: Sendable where Base: Sendable {}

@available(*, unavailable)
extension AsyncCharacterSequence.Iterator: Sendable {}
