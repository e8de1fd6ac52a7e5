import Foundation

/// The response to a forwarded load.
public struct LoadedResponse: Sendable {
    /// The response's head.
    public let response: URLResponse
    /// The request that the response redirects to, made by the rules of the scheme (RFC 9110 §15.4). Nil where the
    /// response does not redirect, or for ``NextHandlers/Redirects/followed``.
    public let redirection: URLRequest?
    /// The response's body, as it is received.
    public let body: LoadedBody
    let load: ForwardedLoad

    /// The transactions that the forwarded load has added to the task's metrics up to now; complete when the body has
    /// been read to its end. The dates are accurate to about a millisecond.
    public var transactionMetrics: [URLSessionTaskTransactionMetrics] { load.transactionMetrics }

    /// The head that a session gets for the response: that of a later response of the load, where there is one, and
    /// the handler has not changed the head.
    ///
    /// - Parameter head: the head that the handler has given.
    func head(as head: URLResponse) -> URLResponse { head === response ? load.laterResponse ?? head : head }
}

/// The body of a response as it is received: an asynchronous sequence of its pieces, which can be read once.
///
/// While the body is not read, its connection is not read either.
public struct LoadedBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    let reader: BodyReader
    /// The largest number of bytes in a piece.
    var maximumSize = Int.max

    /// Starts to read. The body is read once: each of several iterators gets different pieces.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, maximumSize: maximumSize) }

    /// Returns the body's pieces as they are received.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: BodyReader
        let maximumSize: Int
        /// The part of the last piece that is too long.
        private var rest = Data()

        init(reader: BodyReader, maximumSize: Int) { (self.reader, self.maximumSize) = (reader, maximumSize) }

        /// The next piece; nil at the end. Throws the load's error.
        public mutating func next() async throws -> Data? { try await next(isolation: nil) }

        /// The next piece, without leaving the caller's actor where a piece is already available.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            let piece = rest.isEmpty ? try await reader.next(isolation: actor) : rest
            guard let piece, piece.count > maximumSize else {
                rest = Data()
                // A copy, whose indices start at 0.
                return piece.map { $0.startIndex == 0 ? $0 : Data($0) }
            }
            rest = piece.dropFirst(maximumSize)
            return Data(piece.prefix(maximumSize))
        }
    }
}

extension LoadedBody {
    /// The first bytes, at most `limit` of them, of those that arrive until `timeIsOver` returns. The rest is released.
    /// An error of the body ends the read, and is not thrown.
    @_spi(LoadingKitPlugins)
    public func firstBytes(atMost limit: Int, until timeIsOver: @escaping @Sendable () async -> Void) async -> Data {
        await withTaskGroup(of: Data?.self) { group in
            group.addTask { await collect(atMost: limit) }
            group.addTask {
                await timeIsOver()
                return nil
            }
            var bytes = Data()
            for await result in group {
                // A read that is cancelled returns the bytes that it has.
                group.cancelAll()
                bytes = result ?? bytes
            }
            return bytes
        }
    }

    private func collect(atMost limit: Int) async -> Data {
        var (bytes, body) = (Data(), makeAsyncIterator())
        while bytes.count < limit, let piece = try? await body.next() {
            bytes.append(piece.prefix(limit - bytes.count))
        }
        return bytes
    }
}
