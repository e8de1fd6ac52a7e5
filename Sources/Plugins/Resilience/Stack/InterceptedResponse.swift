import Foundation
import LoadingKit

/// A response on its way back through a stack: its head, and a body that is read as it arrives.
public struct InterceptedResponse: Sendable {
    /// The response's head.
    public var response: URLResponse
    /// The response's body.
    public var body: InterceptedBody

    /// Makes a response in an interceptor.
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

/// The body of a response: an asynchronous sequence of its pieces, which can be read once.
///
/// While the body is not read, its connection is not read either: an interceptor that passes it on buffers nothing.
public struct InterceptedBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    private enum Source: Sendable {
        case loaded(LoadedResponse)
        case pulled(@Sendable () async throws -> Data?)
    }

    private let source: Source

    init(_ loaded: LoadedResponse) { source = .loaded(loaded) }

    /// The forwarded load of this body; nil where an interceptor has made the body, or observes it.
    var loaded: LoadedResponse? { if case .loaded(let loaded) = source { loaded } else { nil } }

    /// Makes a body whose pieces are returned by a closure; nil at the end. It is called again only after it has
    /// returned.
    public init(pulling next: @escaping @Sendable () async throws -> Data?) { source = .pulled(next) }

    /// Makes a body from data.
    public init(_ data: Data) {
        let rest = Locked(data)
        self.init(pulling: {
            rest.withLock { data in
                defer { data = Data() }
                return data.isEmpty ? nil : data
            }
        })
    }

    /// The next piece; nil at the end. Throws the load's error.
    public func nextPiece() async throws -> Data? {
        switch source {
        case .loaded(let loaded):
            // Its iterators share one reader: a new iterator continues where the last one stopped.
            var iterator = loaded.body.makeAsyncIterator()
            return try await iterator.next()
        case .pulled(let next): return try await next()
        }
    }

    /// The same body; `didEnd` is called once after its last piece was read, or with its error.
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

    /// The same body, preceded by a piece.
    func preceded(by first: Data) -> InterceptedBody {
        let waiting = Locked<Data?>(first)
        return InterceptedBody(pulling: {
            let first = waiting.withLock { $0.take() }
            if let first, !first.isEmpty { return first }
            return try await nextPiece()
        })
    }

    /// Reads the rest, so that its connection can be reused. A body of more than `limit` bytes, or one whose task is
    /// cancelled, is released instead, which ends its load.
    func discard(upTo limit: Int) async {
        var count = 0
        while count <= limit, !Task.isCancelled, let piece = try? await nextPiece() { count += piece.count }
    }

    /// Performs `work` while the rest is read, as by ``discard(upTo:)``. Bytes that remain afterwards are not read.
    func discarding<Value: Sendable>(upTo limit: Int, during work: () async throws -> Value) async rethrows -> Value {
        let discarding = Task { await discard(upTo: limit) }
        defer { discarding.cancel() }
        return try await work()
    }

    /// The first bytes, at most `limit` of them. The rest is released.
    func firstBytes(atMost limit: Int) async throws -> Data {
        var bytes = Data()
        while bytes.count < limit, let piece = try await nextPiece() { bytes.append(piece.prefix(limit - bytes.count)) }
        return bytes
    }

    /// Starts to read. The body is read once: each of several iterators gets different pieces.
    public func makeAsyncIterator() -> Iterator { Iterator(body: self) }

    /// Returns the body's pieces as they are received.
    public struct Iterator: AsyncIteratorProtocol {
        let body: InterceptedBody

        /// The next piece; nil at the end. Throws the load's error.
        public mutating func next() async throws -> Data? { try await body.nextPiece() }
    }
}
