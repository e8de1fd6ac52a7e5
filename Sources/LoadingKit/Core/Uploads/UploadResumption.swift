import Foundation

extension Data {
    /// The upload resource of the resume data, and the file that is sent. Throws where the data is not an upload's of a
    /// file.
    package var resumedUpload: (resource: URL, body: BodyFile) {
        get throws {
            let data = try UploadResumeData(self)
            guard case .file(let body) = data.content else {
                throw LoadFailure(.resourceUnavailable, "the upload has no file to resume")
            }
            return (data.resource, body)
        }
    }
}

/// An upload that the server can resume: its resource, and its body.
package struct UploadResumption {
    /// The upload's original request, with its body.
    package private(set) var request: URLRequest
    /// The task's original URL, where the request was redirected (``URLSessionTask/firstURL``).
    package private(set) var firstURL: URL
    /// The resource that the server has created for this upload, with the request's origin.
    package private(set) var resource: URL
    package let isFromResumeData: Bool
    /// Whether a load resumes the upload: one load at a time may do so.
    package var isInUse = true

    package init(_ request: URLRequest, firstURL: URL?, at resource: URL) {
        let request = request.withStreamOfProgram
        self.request = request
        self.firstURL = firstURL ?? request.url ?? resource
        self.resource = resource
        isFromResumeData = false
        setResource(resource)
    }

    /// Resumes the upload of an earlier task of the same request, in any process.
    ///
    /// - Parameters:
    ///   - request: the request with the complete body, as that task had it.
    ///   - firstURL: that task's original URL, where it differs from the request's.
    package init(_ request: URLRequest, firstURL: URL? = nil, goingOnAt resource: URL) {
        self.init(request, firstURL: firstURL, at: resource)
        isInUse = false
    }

    /// The resume data for another task; nil for a request that cannot be resumed.
    package var resumeData: Data? { UploadResumeData(self)?.encoded }

    init(_ data: UploadResumeData) {
        request = data.request
        firstURL = data.firstURL
        resource = data.resource
        isFromResumeData = true
        isInUse = false
    }

    /// Sets the resource. If HSTS has changed its URL to `https`, the request has `https` from now on, too: both keep
    /// one origin, also in resume data.
    package mutating func setResource(_ resource: URL) {
        self.resource = resource
        guard let url = request.url, let secured = url.withHTTPS, secured.isSameOrigin(as: resource) else { return }
        if firstURL.isSameOrigin(as: url) { firstURL = firstURL.withHTTPS ?? firstURL }
        request.url = secured
    }

    /// Whether a load of this request resumes the upload.
    package func continues(with request: URLRequest) -> Bool {
        !isInUse && request.httpMethod == self.request.httpMethod
            && request.withStreamOfProgram.storage.body == self.request.storage.body
    }

    /// Whether the sent body differs from the program's: an interceptor has replaced it.
    func isAltered(from request: URLRequest?) -> Bool { request?.storage.body != self.request.storage.body }
}

/// A body stream that passes on another one's bytes, such as one that records them.
package protocol ForwardingBodyStream: InputStream {
    /// The stream of the program, or another one that passes its bytes on.
    var source: InputStream { get }
    /// Bytes were read from the program's stream itself, and not through this one.
    func didRead(_ bytes: Data)
}

extension InputStream {
    /// The streams that pass on the bytes of the program's stream, the outermost first.
    var forwardingStreams: [any ForwardingBodyStream] {
        var stream: InputStream = self
        var streams: [any ForwardingBodyStream] = []
        // Most streams are of these two classes. A cast to a protocol is slow at first.
        while !(stream is BoundInputStream), type(of: stream) != InputStream.self,
            let forwarding = stream as? any ForwardingBodyStream
        {
            streams.append(forwarding)
            stream = forwarding.source
        }
        return streams
    }

    /// The stream that the program has given, where others pass its bytes on.
    var streamOfProgram: InputStream { forwardingStreams.last?.source ?? self }
}

extension URLRequest {
    /// The request with the stream that the program has given, where others pass its bytes on.
    package var withStreamOfProgram: URLRequest {
        guard let stream = httpBodyStream else { return self }
        let source = stream.streamOfProgram
        guard source !== stream else { return self }
        var request = self
        request.httpBodyStream = source
        return request
    }
}
