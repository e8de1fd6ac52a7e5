import Foundation
import LoadingKitCore
import LoadingKitHTTP1

/// A response that asks for credentials, while it is decided whether it is the response or the request is sent again.
struct ChallengingResponse {
    /// Nil once it is lost: a connection may not last as long as a person thinks.
    private(set) var stream: (any HTTPStream)?
    private(set) var error: any Error = LoadFailure(.networkConnectionLost, "the connection was lost")
    let head: ResponseHead
    let response: HTTPURLResponse
    let hasBody: Bool

    init(_ stream: any HTTPStream, _ head: ResponseHead, to request: URLRequest, hasBody: Bool) {
        self.stream = stream
        self.head = head
        response = HTTPURLResponse(head, to: request)
        self.hasBody = hasBody
    }

    mutating func lose(_ error: any Error) {
        stream = nil
        self.error = error
    }
}
