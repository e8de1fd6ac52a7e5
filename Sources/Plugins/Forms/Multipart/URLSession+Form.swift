import Foundation
import LoadingKit

extension URLSession {
    /// Sends a form as the request's body, and returns the complete response.
    ///
    /// The body is read again where it has to be sent again: after a redirect (307, 308) or an authentication
    /// challenge, and where LoadingKit sends a request again by itself because its connection was lost.
    ///
    /// Cancelling the calling task cancels the load, which throws `URLError.cancelled`, and the form's sequences.
    ///
    /// - Parameters:
    ///   - request: the request; its method `GET` becomes `POST`. Its own body is ignored.
    ///   - delegate: a delegate for this load only, called before the session's. Not called for body streams. As it may
    ///     answer the challenges of a connection, a form with a streamed body has a new connection over `https`, unless
    ///     the session's delegate answers them.
    /// - Returns: the response's body, and the response. A response with an error status is a success.
    /// - Throws: ``MultipartFormError`` where the body cannot be made, or fails while it is sent. The server has then
    ///   received no body that looks complete. Otherwise the errors of `data(for:)`.
    public func upload(
        for request: URLRequest, form: MultipartForm, options: MultipartOptions = MultipartOptions(),
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        let body = try form.makeBody(allowsUnknownLength: options.allowsUnknownLength)
        let failure = FormFailure()
        var request = request
        request.setForm(body, options, failure)
        guard request.httpBodyStream != nil else { return try await data(for: request, delegate: delegate) }
        let supplier: any URLSessionTaskDelegate =
            if let delegate { FormTaskDelegate(body, failure, next: delegate) } else { FormBodyDelegate(body, failure) }
        do {
            return try await data(for: request, delegate: supplier)
        } catch let error as URLError where error.code == .requestBodyStreamExhausted {
            if let failure = failure.error { throw failure }
            throw error
        }
    }
}
