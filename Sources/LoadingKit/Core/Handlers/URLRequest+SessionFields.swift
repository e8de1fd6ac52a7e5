import Foundation

/// A session's `httpAdditionalHeaders` in the requests that the program's own handlers get, as on Apple's systems. The
/// handlers that come with LoadingKit add the fields themselves, when they make the message.
extension SessionCore {
    /// The request with the session's fields, unless it has them itself. Those that identify the user are for the origin
    /// that the task was made for alone.
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
