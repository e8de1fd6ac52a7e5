import Foundation
import LoadingKit

extension URLSession.AsyncBytes {
    /// The body's lines, as UTF-8, without their ends, taken from whole pieces of the body: faster than `lines`, and with
    /// the empty ones where they are asked for.
    ///
    /// A line ends with LF, CR, CR LF, VT, FF, NEL (U+0085), LS (U+2028) or PS (U+2029), as in `lines`. Bytes that are not
    /// UTF-8 become U+FFFD. After the last line's end there is no further, empty line.
    ///
    /// - Parameters:
    ///   - keepingEmpty: whether empty lines are given. `lines` leaves them out, as Apple's does.
    ///   - maximumLineSize: bytes of a line, without its end; one of more throws ``LineTooLong``. Default 4 MiB.
    public func lines(keepingEmpty: Bool, maximumLineSize: Int = 4 << 20) -> BodyLines {
        BodyLines(body: chunks, splitter: LineSplitter(limit: Swift.max(0, maximumLineSize), keepsEmpty: keepingEmpty))
    }
}

/// The lines of a response's body, to be read once.
public struct BodyLines: AsyncSequence, Sendable {
    /// A line.
    public typealias Element = String

    let body: LoadedBody
    let splitter: LineSplitter

    /// Begins to read. The body is read once: of several iterators each gets what the others do not.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: PieceIterator(body.makeAsyncIterator(), splitter))
    }

    /// Gives the lines.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: PieceIterator<LineSplitter>

        init(base: PieceIterator<LineSplitter>) { self.base = base }

        /// The next line; nil at the end. Throws what the load failed with, and ``LineTooLong``.
        public mutating func next() async throws -> String? { try await next(isolation: nil) }

        /// The next line, without leaving the caller's actor where one is there already.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
            try await base.next(isolation: actor)
        }
    }
}
