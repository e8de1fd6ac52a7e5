/// The lines of an asynchronous sequence of bytes in UTF-8, without their ends.
///
/// A line ends with LF, CR, CR LF, VT, FF, NEL (U+0085), LS (U+2028) or PS (U+2029), as Foundation has it. Empty lines
/// are left out, as Apple's sequence leaves them out; bytes that are not UTF-8 become U+FFFD.
public struct AsyncLineSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A line.
    public typealias Element = String

    let base: Base

    /// Begins to read, where the bytes' iterator begins.
    public func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

    /// Gives the lines.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: Base.AsyncIterator
        private var line: [UInt8] = []
        private var isOver = false

        init(base: Base.AsyncIterator) { self.base = base }

        /// The next line; nil at the end. Throws what the base throws.
        public mutating func next() async throws -> String? { try await next(isolation: nil) }

        /// The next line, without leaving the caller's actor where the bytes are there already.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
            while !isOver {
                guard let byte = try await nextByte(actor) else {
                    isOver = true
                    break
                }
                line.append(byte)
                let ending = Self.endingLength(line)
                if ending > 0 {
                    line.removeLast(ending)
                    if let text = takeLine() { return text }
                }
            }
            return takeLine()
        }

        private mutating func nextByte(_ actor: isolated (any Actor)?) async throws -> UInt8? {
            try await base.next(isolation: actor)
        }

        private mutating func takeLine() -> String? {
            defer { line.removeAll(keepingCapacity: true) }
            return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
        }

        /// How many bytes at the end of `line` are a line's end. CR LF is CR, then an empty line.
        private static func endingLength(_ line: [UInt8]) -> Int {
            switch line.last {
            case 0x0a, 0x0b, 0x0c, 0x0d: 1
            case 0x85 where line.suffix(2).first == 0xc2 && line.count >= 2: 2
            case 0xa8 where line.suffix(3).elementsEqual([0xe2, 0x80, 0xa8]): 3
            case 0xa9 where line.suffix(3).elementsEqual([0xe2, 0x80, 0xa9]): 3
            default: 0
            }
        }
    }
}

extension AsyncLineSequence: Sendable where Base: Sendable {}

@available(*, unavailable)
extension AsyncLineSequence.Iterator: Sendable {}
