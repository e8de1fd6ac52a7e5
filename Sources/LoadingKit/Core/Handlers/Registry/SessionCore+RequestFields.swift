import Foundation

/// Adds a session's `httpAdditionalHeaders` to the requests that the program's own handlers get, as on Apple's systems.
/// The handlers that come with LoadingKit add the fields themselves when they make the message.
extension SessionCore {
    /// The request with the session's fields, except those that it already has. Fields that identify the user are added
    /// only for the origin of the task's own URL.
    func withSessionFields(_ request: URLRequest, of task: URLSessionTask) -> URLRequest {
        guard let additional = settings.httpAdditionalHeaders, let url = request.url,
            url.hasScheme("http") || url.hasScheme("https")
        else { return request }
        let isFirst = task.firstURL?.isSameOrigin(as: url) == true
        var whole = request
        for (name, value) in additional where whole.value(forHTTPHeaderField: name) == nil {
            if isFirst || !URLRequest.isCredentialField(name) { whole.setValue(value, forHTTPHeaderField: name) }
        }
        return whole
    }
}

extension SessionSettings {
    /// Whether the session has credentials that may be sent with a request.
    func addsCredentials(to request: URLRequest) -> Bool {
        guard let httpAdditionalHeaders, let url = request.url, url.hasScheme("http") || url.hasScheme("https") else {
            return false
        }
        return httpAdditionalHeaders.contains { URLRequest.isCredentialField($0.0) }
    }
}
