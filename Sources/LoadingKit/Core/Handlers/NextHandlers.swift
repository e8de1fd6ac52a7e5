import Foundation

/// The handlers that are asked after the one that holds this.
public struct NextHandlers: Sendable {
    let run: CustomLoad

    /// What becomes of a response that redirects.
    public enum Redirects: Sendable, Hashable {
        /// The session follows it, which ends the load that forwarded the request, and begins another for the new request. Where
        /// the delegate declines, the response is returned as any other.
        case followed
        /// It is returned, with ``LoadedResponse/redirection``. It is followed when ``LoadContext/receive(_:as:)`` gets it.
        case returned
    }

    /// Loads a request with the first of them that can.
    ///
    /// Returns when the response's head is there; the body comes as it is consumed. Challenges go to the delegate.
    /// - Parameter redirects: what becomes of a response that redirects. Default: it is followed.
    /// - Throws: `URLError.unsupportedURL` when none can; whatever their load fails with.
    public func load(_ request: URLRequest, redirects: Redirects = .followed) async throws -> LoadedResponse {
        let forwarded = ForwardedLoad(run, returnsRedirects: redirects == .returned)
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
    /// The request that the response redirects to, made by the rules of the scheme (RFC 9110 §15.4). Nil where the response
    /// does not redirect, or ``NextHandlers/Redirects/followed`` was asked for.
    public let redirection: URLRequest?
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
