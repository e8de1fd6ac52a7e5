import Foundation

/// A forwarded load's response that a handler has passed to the session, including the rest of its body.
///
/// Resumes the handler at its end: with the load's error, or with a cancellation where the response was never used.
final class PassedResponse {
    /// The head that the handler has given.
    private let givenHead: URLResponse
    private let target: URLRequest?
    /// The reader of its body ends the load when it is released.
    private let loaded: LoadedResponse
    private var continuation: UnsafeContinuation<Void, any Error>?

    init(
        _ loaded: LoadedResponse, as head: URLResponse, redirectingTo target: URLRequest?,
        _ continuation: UnsafeContinuation<Void, any Error>
    ) {
        self.loaded = loaded
        self.target = target
        givenHead = head
        self.continuation = continuation
    }

    // Most responses have ended, and need no error.
    deinit { if continuation != nil { end(CancellationError()) } }

    var load: ForwardedLoad { loaded.load }

    /// The head that the session gets for the response.
    var head: URLResponse { loaded.head(as: givenHead) }

    /// The target of the response's redirect. Nil also where the handler has given a head that does not redirect, or to
    /// another URL, and no target. A refusal of the redirect also applies to the target that the handler has chosen: it
    /// is usually the same resource with another URL.
    var redirection: ForwardedLoad.Redirection? {
        guard var redirection = load.redirection else { return nil }
        guard let target else { return redirection.response.isSameRedirect(as: head) ? redirection : nil }
        redirection.request = target
        return redirection
    }

    func end(_ error: (any Error)?) {
        guard let continuation = continuation.take() else { return }
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
}
