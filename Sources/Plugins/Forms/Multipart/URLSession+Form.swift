import Foundation
import LoadingKit

extension URLSession {
    /// Sends a form as the request's body, and gives the response whole.
    ///
    /// The body is sent anew where a redirect (307, 308) or an authentication challenge needs it. Where a connection is lost
    /// before any byte of a response, the request is sent again by the rules that LoadingKit has for other bodies: up to
    /// three times with an idempotent method (`PUT`) or an `Idempotency-Key`; once with another, where the connection had
    /// served before and `URLSessionConfiguration.retriesUnansweredRequests` is set. Each time is a task of its own, which
    /// a delegate sees.
    ///
    /// Cancelling the calling task cancels the load, which then throws `URLError.cancelled`, and the sequences that the
    /// form reads.
    ///
    /// - Parameters:
    ///   - request: the method `GET` becomes `POST`. Its own body is ignored.
    ///   - delegate: a delegate for this load alone, asked before the session's. Not asked for body streams.
    /// - Returns: the response's body, and the response. A server's error status is a success.
    /// - Throws: ``MultipartFormError`` where the body cannot be made, or fails while it is sent. The server then has got no
    ///   body that looks whole. Else what `data(for:)` throws.
    public func upload(
        for request: URLRequest, form: MultipartForm, options: MultipartOptions = MultipartOptions(),
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let body = try form.makeBody(allowsUnknownLength: options.allowsUnknownLength)
        let maySendUnsafe = configuration.retriesUnansweredRequests
        var sent = 0
        while true {
            let transmission = FormTransmission()
            defer { transmission.end() }
            var request = request
            request.setForm(body, options, transmission)
            guard request.httpBodyStream != nil else { return try await data(for: request, delegate: delegate) }
            let formDelegate = FormTaskDelegate(body, transmission, next: delegate)
            do {
                sent += 1
                return try await data(for: request, delegate: formDelegate)
            } catch let error as URLError {
                if let failure = transmission.failure, error.code == .requestBodyStreamExhausted { throw failure }
                let attempt = FormAttempt(error, formDelegate.transaction, request)
                guard !Task.isCancelled, attempt.mayRepeat(sent: sent, maySendUnsafe: maySendUnsafe) else {
                    throw error
                }
            }
        }
    }
}

/// An attempt to send a form that has failed.
struct FormAttempt {
    private let isConnectionLost: Bool
    private let hasResponse: Bool
    private let isReusedConnection: Bool
    private let isIdempotent: Bool

    init(isConnectionLost: Bool, hasResponse: Bool, isReusedConnection: Bool, isIdempotent: Bool) {
        self.isConnectionLost = isConnectionLost
        self.hasResponse = hasResponse
        self.isReusedConnection = isReusedConnection
        self.isIdempotent = isIdempotent
    }

    fileprivate init(_ error: URLError, _ last: URLSessionTaskTransactionMetrics?, _ request: URLRequest) {
        isConnectionLost = error.code == .networkConnectionLost
        hasResponse = last?.response != nil
        isReusedConnection = last?.isReusedConnection == true
        isIdempotent =
            ["PUT", "DELETE", "OPTIONS", "TRACE"].contains(request.httpMethod ?? "")
            || request.value(forHTTPHeaderField: "Idempotency-Key") != nil
    }

    /// RFC 9110 §9.2.2, as LoadingKit has it for bodies that it can send again by itself.
    ///
    /// - Parameter sent: how often the form was sent, this attempt included.
    func mayRepeat(sent: Int, maySendUnsafe: Bool) -> Bool {
        guard isConnectionLost, !hasResponse else { return false }
        return isIdempotent ? sent <= 3 : sent <= 1 && isReusedConnection && maySendUnsafe
    }
}
