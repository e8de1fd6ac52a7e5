import Foundation
import LoadingKit

extension URLRequest {
    /// Makes a form the request's body: sets `Content-Type`, and `Content-Length` where the length is known. A request of
    /// method `GET` becomes one of `POST`; every other method stays.
    ///
    /// A small form of data and text (``MultipartOptions/inMemoryLimit``) becomes ``httpBody``. Any other becomes
    /// ``httpBodyStream``, which can be read once: for a redirect of 307 or 308, or an authentication challenge, the
    /// delegate has to give `needNewBodyStream` a new one, by ``MultipartBody/makeStream()`` of the result.
    /// `session.upload(for:form:)` does all of that, and more: prefer it where there is a choice.
    ///
    /// A stream that fails, for a file that has changed for instance, fails the load with
    /// `URLError.requestBodyStreamExhausted`, and says in its text why.
    ///
    /// - Returns: the body, whose ``MultipartBody/makeStream()`` gives it anew.
    /// - Throws: ``MultipartFormError``. The request is not changed then.
    @discardableResult
    public mutating func setForm(
        _ form: MultipartForm, options: MultipartOptions = MultipartOptions()
    ) throws(MultipartFormError) -> MultipartBody {
        let body = try form.makeBody(allowsUnknownLength: options.allowsUnknownLength)
        setForm(body, options, FormTransmission())
        return body
    }

    mutating func setForm(_ body: MultipartBody, _ options: MultipartOptions, _ transmission: FormTransmission) {
        if httpMethod == "GET" { httpMethod = "POST" }
        setValue(body.contentType, forHTTPHeaderField: "Content-Type")
        if let data = body.data(upTo: options.inMemoryLimit) {
            setValue(nil, forHTTPHeaderField: "Content-Length")
            httpBody = data
        } else {
            setValue(body.contentLength.map { String($0) }, forHTTPHeaderField: "Content-Length")
            httpBodyStream = body.makeStream(transmission)
        }
    }
}
