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
}
