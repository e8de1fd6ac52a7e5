import Foundation

/// An upload that a server has said can be resumed: where, and what was sent of it.
package struct UploadResumption {
    /// The request that the upload was begun with, with its body.
    package let request: URLRequest
    /// What the task was made for, where the request was redirected (``URLSessionTask/firstURL``).
    package let firstURL: URL
    /// The resource that the server has made for this upload, of the request's origin.
    package var resource: URL
    /// Whether another task has begun it.
    package let isFromResumeData: Bool
    /// Whether a load goes on with it: there is one at a time.
    package var isInUse = true

    package init(_ request: URLRequest, firstURL: URL?, at resource: URL) {
        self.request = request
        self.firstURL = firstURL ?? request.url ?? resource
        self.resource = resource
        isFromResumeData = false
    }

    init(_ data: UploadResumeData) {
        request = data.request
        firstURL = data.firstURL
        resource = data.resource
        isFromResumeData = true
        isInUse = false
    }

    /// Whether a load of this request goes on with the upload.
    package func continues(with request: URLRequest) -> Bool {
        !isInUse && request.httpMethod == self.request.httpMethod && request.storage.body == self.request.storage.body
    }

    /// Whether what was sent is not the body that the program gave: an interceptor had it replaced.
    func isAltered(from request: URLRequest?) -> Bool { request?.storage.body != self.request.storage.body }
}
