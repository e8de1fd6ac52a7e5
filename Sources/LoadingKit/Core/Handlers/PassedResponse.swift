import Foundation

/// A forwarded load's response that a handler has given to the session, whatever is left of its body included.
///
/// Resumes the handler at its end: with the error of the load, or a cancellation where the response was never used.
final class PassedResponse {
    /// What the session gets as the response's head.
    let head: URLResponse
    private let target: URLRequest?
    /// Its body's reader ends the load when it is let go of.
    private let loaded: LoadedResponse
    private var continuation: UnsafeContinuation<Void, any Error>?

    init(
        _ loaded: LoadedResponse, as head: URLResponse, redirectingTo target: URLRequest?,
        _ continuation: UnsafeContinuation<Void, any Error>
    ) {
        self.loaded = loaded
        self.target = target
        self.head = head
        self.continuation = continuation
    }

    // Most have ended, and need no error made.
    deinit { if continuation != nil { end(CancellationError()) } }

    var load: ForwardedLoad { loaded.load }

    /// Where the response redirects to. Why that may not be followed holds for the target as well that the handler has chosen:
    /// it is usually the same place by another URL.
    var redirection: ForwardedLoad.Redirection? {
        guard let redirection = load.redirection, let target else { return load.redirection }
        return ForwardedLoad.Redirection(request: target, refusal: redirection.refusal)
    }

    func end(_ error: (any Error)?) {
        guard let continuation = continuation.take() else { return }
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
    }
}
