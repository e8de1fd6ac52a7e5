import Foundation
import LoadingKit

extension URLSession {
    /// Sends a form as the request's body, and returns the complete response.
    ///
    /// The body is sent again where a redirect (307, 308) or an authentication challenge requires it. Where a
    /// connection is lost before any byte of a response, the request is sent again by LoadingKit's rules for other
    /// bodies: up to three times with an idempotent method (`PUT`) or an `Idempotency-Key`; once with any other method,
    /// where the connection had served a request before and `URLSessionConfiguration.retriesUnansweredRequests` is set.
    /// Each attempt is a separate task, which a delegate sees.
    ///
    /// Cancelling the calling task cancels the load, which throws `URLError.cancelled`, and the form's sequences.
    ///
    /// - Parameters:
    ///   - request: the request; its method `GET` becomes `POST`. Its own body is ignored.
    ///   - delegate: a delegate for this load only, called before the session's. Not called for body streams.
    /// - Returns: the response's body, and the response. A response with an error status is a success.
    /// - Throws: ``MultipartFormError`` where the body cannot be made, or fails while it is sent. The server has then
    ///   received no body that looks complete. Otherwise the errors of `data(for:)`.
    public func upload(
        for request: URLRequest, form: MultipartForm, options: MultipartOptions = MultipartOptions(),
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let body = try form.makeBody(allowsUnknownLength: options.allowsUnknownLength)
        let maySendUnsafe = configuration.retriesUnansweredRequests
        var sent = 0
        while true {
            let failure = FormFailure()
            var request = request
            request.setForm(body, options, failure)
            guard request.httpBodyStream != nil else { return try await data(for: request, delegate: delegate) }
            let formDelegate = FormTaskDelegate(body, failure, next: delegate)
            do {
                sent += 1
                return try await data(for: request, delegate: formDelegate)
            } catch let error as URLError {
                if let failure = failure.error, error.code == .requestBodyStreamExhausted { throw failure }
                let attempt = FormAttempt(error, formDelegate.transaction, request)
                guard !Task.isCancelled, attempt.mayRepeat(sent: sent, maySendUnsafe: maySendUnsafe) else {
                    throw error
                }
            }
        }
    }
}

/// A failed attempt to send a form.
struct FormAttempt {
    let isConnectionLost: Bool
    let hasResponse: Bool
    let isReusedConnection: Bool
    let isIdempotent: Bool

    /// RFC 9110 §9.2.2, by LoadingKit's rules for bodies that it can send again by itself.
    ///
    /// - Parameter sent: the number of times that the form was sent, including this attempt.
    func mayRepeat(sent: Int, maySendUnsafe: Bool) -> Bool {
        guard isConnectionLost, !hasResponse else { return false }
        return isIdempotent ? sent <= 3 : sent <= 1 && isReusedConnection && maySendUnsafe
    }
}

extension FormAttempt {
    fileprivate init(_ error: URLError, _ last: URLSessionTaskTransactionMetrics?, _ request: URLRequest) {
        isConnectionLost = error.code == .networkConnectionLost
        hasResponse = last?.response != nil
        isReusedConnection = last?.isReusedConnection == true
        isIdempotent =
            ["PUT", "DELETE", "OPTIONS", "TRACE"].contains(request.httpMethod ?? "")
            || request.value(forHTTPHeaderField: "Idempotency-Key") != nil
    }
}
