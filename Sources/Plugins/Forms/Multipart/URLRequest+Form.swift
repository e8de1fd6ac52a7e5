import Foundation
import LoadingKit

extension URLRequest {
    /// Sets the request's body to a form: sets `Content-Type`, and `Content-Length` where the length is known. The
    /// method `GET` becomes `POST`; every other method is kept.
    ///
    /// A small form of data and text (``MultipartOptions/inMemoryLimit``) becomes ``httpBody``. Any other becomes
    /// ``httpBodyStream``, which can be read once: for a redirect of 307 or 308, or an authentication challenge, the
    /// delegate has to supply a new stream in `needNewBodyStream`, with ``MultipartBody/makeStream()`` of the result.
    /// `session.upload(for:form:)` does all of this, and more: prefer it where there is a choice.
    ///
    /// A stream that fails, for example because a file has changed, fails the load with
    /// `URLError.requestBodyStreamExhausted`, whose text has the reason.
    ///
    /// - Returns: the body, whose ``MultipartBody/makeStream()`` returns a new stream.
    /// - Throws: ``MultipartFormError``. The request is then unchanged.
    @discardableResult
    public mutating func setForm(
        _ form: MultipartForm, options: MultipartOptions = MultipartOptions()
    ) throws(MultipartFormError) -> MultipartBody {
        let body = try form.makeBody(allowsUnknownLength: options.allowsUnknownLength)
        setForm(body, options, FormFailure())
        return body
    }

    mutating func setForm(_ body: MultipartBody, _ options: MultipartOptions, _ failure: FormFailure) {
        if httpMethod == "GET" { httpMethod = "POST" }
        setValue(body.contentType, forHTTPHeaderField: "Content-Type")
        if let data = body.data(upTo: options.inMemoryLimit) {
            setValue(nil, forHTTPHeaderField: "Content-Length")
            httpBody = data
        } else {
            setValue(body.contentLength.map { String($0) }, forHTTPHeaderField: "Content-Length")
            httpBodyStream = body.makeStream(failure)
        }
    }
}

/// The options for sending a form's body.
public struct MultipartOptions: Sendable {
    /// Whether parts may be of unknown length. The body is then sent in chunks over HTTP/1.1, without `Content-Length`,
    /// which many servers refuse. Default false: a part of unknown length is an error.
    public var allowsUnknownLength = false

    /// The limit in bytes up to which a body without files, streams and sequences is composed in memory: LoadingKit can
    /// always send it again by itself. Default 1 MiB.
    public var inMemoryLimit = 1 << 20

    /// Makes the default options.
    public init() {}
}
