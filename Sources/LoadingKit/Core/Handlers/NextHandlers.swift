import Foundation

/// The handlers that are asked after the one that holds this.
public struct NextHandlers: Sendable {
    let run: CustomLoad

    /// Loads a request with the first of them that can.
    ///
    /// Returns when the response's head is there; the body comes as it is consumed. A redirect is told to the session,
    /// which ends this load and begins another for the new request; challenges go to the delegate.
    /// - Throws: `URLError.unsupportedURL` when none can; whatever their load fails with.
    public func load(_ request: URLRequest) async throws -> LoadedResponse {
        let forwarded = ForwardedLoad(run)
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { forwarded.begin(request, $0) }
        } onCancel: {
            forwarded.cancel()
        }
    }
}

/// What a forwarded load received.
public struct LoadedResponse: Sendable {
    /// The response's head.
    public let response: URLResponse
    /// The response's body, as it is received.
    public let body: LoadedBody
    let load: ForwardedLoad

    /// What the forwarded load has added to the task's metrics up to now: all of it, when the body has been read to its end. The
    /// dates are right to about a millisecond.
    public var transactionMetrics: [URLSessionTaskTransactionMetrics] { load.transactionMetrics }
}

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
