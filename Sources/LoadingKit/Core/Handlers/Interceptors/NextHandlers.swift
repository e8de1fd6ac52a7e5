import Foundation

/// The handlers after the one that holds this value.
public struct NextHandlers: Sendable {
    let run: any ForwardingLoad

    /// The treatment of a response that redirects.
    public enum Redirects: Sendable, Hashable {
        /// The session follows the redirect. This ends the load that forwarded the request, and starts another for the
        /// new request. Where the delegate declines, the response is returned like any other.
        case followed
        /// The response is returned, with ``LoadedResponse/redirection``. It is followed when
        /// `LoadContext.receive` gets it.
        case returned
    }

    /// Loads a request with the first of the handlers that can load it.
    ///
    /// Returns when the response's head has arrived; the body arrives as it is consumed. Challenges go to the delegate.
    /// - Parameter redirects: the treatment of a response that redirects. Default: it is followed.
    /// - Throws: `URLError.unsupportedURL` when no handler can load the request; `CancellationError` when the load that
    ///   forwards the request ends before the response has arrived; otherwise the load's error.
    public func load(_ request: URLRequest, redirects: Redirects = .followed) async throws -> LoadedResponse {
        let forwarded = ForwardedLoad(run, returnsRedirects: redirects == .returned)
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { forwarded.begin(request, $0) }
        } onCancel: {
            forwarded.cancel()
        }
    }
}
