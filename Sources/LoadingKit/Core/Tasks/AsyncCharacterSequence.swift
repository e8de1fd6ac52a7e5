/// The characters of a response's body in UTF-8: see ``URLSession/AsyncBytes/characters``. Bytes that are not UTF-8
/// become U+FFFD.
///
/// A character is a Swift `Character` of any number of scalars. A character of more than 64 KiB is divided.
public struct AsyncCharacterSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A character.
    public typealias Element = Character

    let reader: BodyReader

    /// Starts to read. The body is read once: each of several iterators gets different characters.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// Iterates over the characters.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: BodyReader
        private var text = UTF8Pieces()
        private var cutter = CharacterCutter()
        private var isOver = false

        init(reader: BodyReader) { self.reader = reader }

        /// The next character; nil at the end. Throws the load's error.
        public mutating func next() async throws -> Character? { try await next(isolation: nil) }

        /// The next character, without leaving the caller's actor where a character is already available.
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
