import Foundation

/// Apple's rules for the tasks of a background session. Other tasks could not continue after the program's end: a program
/// that makes one is stopped with Apple's message.
package enum BackgroundRules {
    /// The schemes of downloads and uploads. Data tasks, which the program runs itself, may have others.
    static let schemes = ["http", "https"]
    /// The greatest size of a kept request body, in bytes. The body is in the journal, and in memory while it is sent.
    package static let longestBody = 64 << 20
    static let completionHandler =
        "Completion handler blocks are not supported in background sessions. Use a delegate instead."
    static let asynchronous = "Asynchronous calls are not supported in background sessions. Use a delegate instead."
    static let uploadOfData = "Upload tasks from NSData are not supported in background sessions."
    static let uploadOfStream = "Upload tasks from a stream are not supported in background sessions."
    static let webSocket = "WebSocket tasks are not supported in background sessions."
    static let stream = "Stream tasks are not supported in background sessions."
    static let noDelegate = "A background session needs a delegate, as its tasks report to nothing else."
}

/// The rules for the request of a transfer: the one of its task, and the one with which the program replaces it before
/// the transfer begins.
extension TransferRequest {
    /// - Throws: where a background session cannot perform the request.
    init(forBackground request: URLRequest) throws {
        guard let url = request.url, let coded = TransferRequest(request) else {
            throw LoadFailure(.badURL, "the task has no request")
        }
        guard BackgroundRules.schemes.contains(where: url.hasScheme) else {
            throw URLError(
                LoadFailure(.unsupportedURL, "background sessions load http and https URLs alone"), url: url)
        }
        guard request.httpBodyStream == nil else {
            let text =
                "a background session cannot send a stream, which does not outlive the program: use data or a file"
            throw URLError(LoadFailure(.requestBodyStreamExhausted, text), url: url)
        }
        self = coded
    }

    /// Throws where the body is longer than a background session keeps.
    package func checkBody() throws {
        let (size, longest) = (self.body?.count ?? 0, BackgroundRules.longestBody)
        guard size > longest else { return }
        let text = "the request's body of \(size) bytes is longer than a background session keeps (\(longest)): "
        throw TransferError(.dataLengthExceedsMaximum, text + "send a file", url: self.url).error
    }
}
