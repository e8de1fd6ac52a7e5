import Foundation
import LoadingKit

extension URLSession.AsyncBytes {
    /// The body's lines, as UTF-8, without their ends, taken from whole pieces of the body: faster than `lines`, and
    /// with empty lines on request.
    ///
    /// A line ends with LF, CR, CR LF, VT, FF, NEL (U+0085), LS (U+2028) or PS (U+2029), as in `lines`. There is
    /// no empty line after the last line end.
    ///
    /// - Parameters:
    ///   - keepingEmpty: whether empty lines are returned. `lines` omits them, like Apple's sequence.
    ///   - maximumLineSize: the largest number of bytes in a line, without its end; a longer line throws
    ///     ``LineTooLong``. Default 4 MiB.
    public func lines(keepingEmpty: Bool, maximumLineSize: Int = 4 << 20) -> BodyLines {
        BodyLines(body: chunks, splitter: LineSplitter(limit: Swift.max(0, maximumLineSize), keepsEmpty: keepingEmpty))
    }
}

/// The lines of a response's body, which can be read once.
public struct BodyLines: AsyncSequence, Sendable {
    /// A line.
    public typealias Element = String

    let body: LoadedBody
    let splitter: LineSplitter

    /// Starts to read. The body is read once: each of several iterators gets different lines.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: PieceIterator(body.makeAsyncIterator(), splitter))
    }

    /// Iterates over the lines.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: PieceIterator<LineSplitter>

        init(base: PieceIterator<LineSplitter>) { self.base = base }

        /// The next line; nil at the end. Throws the load's error, and ``LineTooLong``.
        public mutating func next() async throws -> String? { try await next(isolation: nil) }

        /// The next line, without leaving the caller's actor where a line is already available.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
            try await base.next(isolation: actor)
        }
    }
}
