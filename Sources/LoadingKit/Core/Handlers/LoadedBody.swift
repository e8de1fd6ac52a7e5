import Foundation

/// The body of a response as it is received: an asynchronous sequence of its pieces, to be read once.
///
/// While it is not read, the connection that it comes from is not read either.
public struct LoadedBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    let reader: BodyReader

    /// Begins to read. The body is read once: of several iterators each gets what the others do not.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// Gives the body's pieces as they are received.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: BodyReader

        /// The next piece; nil at the end. Throws what the load failed with.
        public mutating func next() async throws -> Data? { try await next(isolation: nil) }

        /// The next piece, without leaving the caller's actor where one is there already.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            try await reader.next(isolation: actor)
        }
    }
}
