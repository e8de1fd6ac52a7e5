import Foundation

/// The coded form of an error, for the journal of background sessions and for other processes: domain, code and texts.
package struct TransferError: Codable, Hashable, Sendable {
    package var domain: String
    package var code: Int
    package var text: String?
    package var url: String?
    /// The underlying error's description, if it differs from the error's own.
    package var reason: String?
    /// The steps of the load (`URLError.loadRecord`).
    package var record: String?
    package var resumeData: Data?
    /// The resume data of an upload. They are not those of the attempt's error: the performer of transfers has the file at
    /// another path.
    package var uploadResumeData: Data?

    package init(_ error: any Error) {
        record = (error as? URLError)?.loadRecord
        let error = (error is LoadFailure ? URLError(error, url: nil) : error) as NSError
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? any Error
        let description = underlying.map { String(describing: $0) }
        domain = error.domain
        code = error.code
        text = error.localizedDescription
        url = (error.userInfo[NSURLErrorFailingURLErrorKey] as? URL)?.absoluteString
        reason = description == error.localizedDescription ? nil : description
        resumeData = error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
    }

    /// An error of LoadingKit.
    package init(_ code: URLError.Code, _ text: String, url: String? = nil) {
        domain = NSURLErrorDomain
        self.code = code.rawValue
        self.text = text
        self.url = url
    }

    /// The journal does not have the transfer.
    package static let lost = TransferError(
        .backgroundSessionWasDisconnected,
        "the transfer is lost: the journal of background sessions was damaged or removed")

    /// The code of an error of LoadingKit; nil for other errors.
    package var urlErrorCode: URLError.Code? { domain == NSURLErrorDomain ? URLError.Code(rawValue: code) : nil }

    /// The error; a `URLError` where the domain is `NSURLErrorDomain`.
    package var error: any Error {
        var userInfo: [String: Any] = [:]
        userInfo[NSLocalizedDescriptionKey] = text
        if let url = url.flatMap({ URL(string: $0) }) {
            userInfo[NSURLErrorFailingURLErrorKey] = url
            userInfo["NSErrorFailingURLStringKey"] = url.absoluteString
        }
        let code = urlErrorCode
        if let code, let said = reason ?? text { userInfo[NSUnderlyingErrorKey] = LoadFailure(code, said) }
        userInfo[NSURLSessionDownloadTaskResumeData] = resumeData
        userInfo[NSURLSessionUploadTaskResumeData] = uploadResumeData
        guard let code else { return NSError(domain: domain, code: self.code, userInfo: userInfo) }
        return URLError(code, userInfo: userInfo).adding(record.map { LoadRecord(text: $0) })
    }
}
