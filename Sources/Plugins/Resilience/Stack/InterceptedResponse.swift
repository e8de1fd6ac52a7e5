import Foundation
import LoadingKit

/// A response on its way back through a stack: its head, and a body that is read as it comes.
public struct InterceptedResponse: Sendable {
    /// The response's head.
    public var response: URLResponse
    /// The response's body.
    public var body: InterceptedBody

    /// A response that an interceptor makes itself.
    public init(response: URLResponse, body: InterceptedBody) {
        self.response = response
        self.body = body
    }

    init(_ loaded: LoadedResponse) {
        response = loaded.response
        body = InterceptedBody(loaded)
    }

    /// The status of an HTTP response; nil for others.
    public var statusCode: Int? { (response as? HTTPURLResponse)?.statusCode }

    /// The value of a field of an HTTP response; nil where there is none.
    func value(forField name: String) -> String? {
        (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name)
    }
}

/// The body of a response: an asynchronous sequence of its pieces, to be read once.
///
/// While it is not read, the connection that it comes from is not read either: an interceptor that passes it on collects
/// nothing.
public struct InterceptedBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    private enum Source: Sendable {
        case loaded(LoadedResponse)
        case pulled(@Sendable () async throws -> Data?)
    }

    private let source: Source

    init(_ loaded: LoadedResponse) { source = .loaded(loaded) }

    /// The forwarded load whose body this is; nil where an interceptor has made the body, or looks at it.
    var loaded: LoadedResponse? { if case .loaded(let loaded) = source { loaded } else { nil } }

    /// A body whose pieces a closure gives; nil at the end. It is called again only after it has returned.
    public init(pulling next: @escaping @Sendable () async throws -> Data?) { source = .pulled(next) }

    /// A body that is there.
    public init(_ data: Data) {
        let rest = Locked(data)
        self.init(pulling: {
            rest.withLock { data in
                defer { data = Data() }
                return data.isEmpty ? nil : data
            }
        })
    }

    /// The next piece; nil at the end. Throws what the load failed with.
    public func nextPiece() async throws -> Data? {
        switch source {
        case .loaded(let loaded):
            // Its iterators share one reader, so that a new one goes on where the last one was.
            var iterator = loaded.body.makeAsyncIterator()
            return try await iterator.next()
        case .pulled(let next): return try await next()
        }
    }

    /// The same body; `didEnd` is called once when its last piece was read, or with what it failed with.
    public func observingEnd(_ didEnd: @escaping @Sendable ((any Error)?) -> Void) -> InterceptedBody {
        InterceptedBody(pulling: {
            do {
                if let piece = try await nextPiece() { return piece }
            } catch {
                didEnd(error)
                throw error
            }
            didEnd(nil)
            return nil
        })
    }

    /// The same body with a piece before it.
    func preceded(by first: Data) -> InterceptedBody {
        let waiting = Locked<Data?>(first)
        return InterceptedBody(pulling: {
            let first = waiting.withLock { $0.take() }
            if let first, !first.isEmpty { return first }
            return try await nextPiece()
        })
    }

    /// Reads what is left, so that its connection can be used again. A body of more than `limit` bytes, or one whose task
    /// is cancelled, is let go of instead, which ends its load.
    func discard(upTo limit: Int) async {
        var count = 0
        while count <= limit, !Task.isCancelled, let piece = try? await nextPiece() { count += piece.count }
    }

    /// Does `work` while what is left is read, as ``discard(upTo:)`` does. What is left then is let go of.
    func discarding<Value: Sendable>(upTo limit: Int, during work: () async throws -> Value) async rethrows -> Value {
        let discarding = Task { await discard(upTo: limit) }
        defer { discarding.cancel() }
        return try await work()
    }

    /// The first bytes, at most `limit` of them. The rest is let go of.
    func firstBytes(atMost limit: Int) async throws -> Data {
        var bytes = Data()
        while bytes.count < limit, let piece = try await nextPiece() { bytes.append(piece.prefix(limit - bytes.count)) }
        return bytes
    }

    /// Begins to read. The body is read once: of several iterators each gets what the others do not.
    public func makeAsyncIterator() -> Iterator { Iterator(body: self) }

    /// Gives the body's pieces as they are received.
    public struct Iterator: AsyncIteratorProtocol {
        let body: InterceptedBody

        /// The next piece; nil at the end. Throws what the load failed with.
        public mutating func next() async throws -> Data? { try await body.nextPiece() }
    }
}
