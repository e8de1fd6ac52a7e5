import Foundation

extension Data {
    /// Where the server has the upload that the resume data is of, and the file that is sent. Throws where it is no upload's of a
    /// file.
    package var resumedUpload: (resource: URL, body: BodyFile) {
        get throws {
            let data = try UploadResumeData(self)
            guard case .file(let body) = data.content else {
                throw LoadFailure(.resourceUnavailable, "the upload to go on with is of no file")
            }
            return (data.resource, body)
        }
    }
}

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

    /// What an earlier task of the same request has begun, in whatever process.
    ///
    /// - Parameter request: With the whole body, as that task had it.
    package init(_ request: URLRequest, goingOnAt resource: URL) {
        self.init(request, firstURL: nil, at: resource)
        isInUse = false
    }

    /// What another task goes on from; nil for a request that cannot go on.
    package var resumeData: Data? { UploadResumeData(self)?.encoded }

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
