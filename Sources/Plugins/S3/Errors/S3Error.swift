import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// An S3 server's answer to a failed request.
public struct S3Error: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The kind of error, by code and status.
    public enum Kind: Sendable, Hashable {
        /// There is no such bucket (`NoSuchBucket`), or a HEAD without a key was answered with 404.
        case noSuchBucket
        /// There is no such object (`NoSuchKey`), or a HEAD was answered with 404.
        case noSuchKey
        /// The multipart upload has ended, was aborted, or never existed (`NoSuchUpload`).
        case noSuchUpload
        /// The credentials do not permit the operation (`AccessDenied`), or another 403.
        case accessDenied
        /// The access key is unknown, or the signature does not match its secret (`InvalidAccessKeyId`,
        /// `SignatureDoesNotMatch`).
        case badCredentials
        /// Temporary credentials have expired (`ExpiredToken`, `InvalidToken`).
        case expiredCredentials
        /// This machine's clock and the server's differ by more than 15 minutes (`RequestTimeTooSkewed`).
        case clockSkewed
        /// The bucket is in another region.
        case wrongRegion
        /// A condition (such as `If-Match`) is not met: 412, or 409 for two simultaneous writes.
        case preconditionFailed
        /// The object has no such range (416).
        case invalidRange
        /// The server requires fewer requests (`SlowDown` and similar codes; 503, 429).
        case slowDown
        /// The server failed (5xx): the same request may succeed later.
        case serverFailure
        /// Another code: see ``S3Error/code``.
        case other
    }

    /// The HTTP status. It is 200 for a copy that failed, and for a multipart upload that failed during its completion.
    public let statusCode: Int
    /// The code, such as `NoSuchKey`; `HTTP` and the status where the answer has none.
    public let code: String
    /// The server's text for human readers; empty where there is none.
    public let message: String
    /// The request's identifier (`x-amz-request-id`), which the provider's support needs.
    public let requestID: String?
    /// The host's identifier (`x-amz-id-2`).
    public let hostID: String?
    /// The region of the bucket, where the server has sent it.
    public let region: String?
    /// The requested address.
    public let address: S3Address
    /// The wait in seconds that the server requires (`Retry-After`), where it has sent one.
    public let retryAfter: TimeInterval?

    /// The kind of error.
    public var kind: Kind { Kind(code: code, status: statusCode, hasKey: !address.key.isEmpty) }

    /// The error on one line, with the identifier that the provider's support needs.
    public var description: String {
        let text = message.isEmpty ? "" : ": \(message)"
        return "\(address): \(code) (status \(statusCode))\(text)" + (requestID.map { " [request \($0)]" } ?? "")
    }

    /// The description.
    public var errorDescription: String? { description }

    init(_ answer: S3Answer, _ address: S3Address) {
        let document = answer.errorDocument
        statusCode = answer.status
        code = document?["Code"].map { $0.limited(to: 128) } ?? "HTTP\(answer.status)"
        message = document?["Message"]?.limited(to: 1024) ?? ""
        let identifier = answer.field("x-amz-request-id") ?? document?["RequestId"] ?? answer.field("x-amzn-requestid")
        requestID = identifier?.limited(to: 256)
        hostID = (answer.field("x-amz-id-2") ?? document?["HostId"])?.limited(to: 256)
        let region = answer.field("x-amz-bucket-region") ?? document?["Region"]
        self.region = region.flatMap { S3Region.checked($0) }
        self.address = address
        let now = Date().timeIntervalSince1970
        retryAfter = answer.field("Retry-After").flatMap { HTTPDate.delay(ofRetryAfter: $0, now: now) }
    }
}

extension S3Error.Kind {
    init(code: String, status: Int, hasKey: Bool) {
        switch code {
        case "NoSuchBucket": self = .noSuchBucket
        case "NoSuchKey": self = .noSuchKey
        case "NoSuchUpload": self = .noSuchUpload
        case "InvalidAccessKeyId", "SignatureDoesNotMatch": self = .badCredentials
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired": self = .expiredCredentials
        case "RequestTimeTooSkewed": self = .clockSkewed
        case "PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed",
            "IllegalLocationConstraintException":
            self = .wrongRegion
        case "PreconditionFailed", "ConditionalRequestConflict": self = .preconditionFailed
        case "InvalidRange": self = .invalidRange
        case "SlowDown", "ServiceUnavailable", "Throttling", "ThrottlingException", "RequestLimitExceeded",
            "TooManyRequests":
            self = .slowDown
        case "AccessDenied": self = .accessDenied
        default: self.init(status: status, hasKey: hasKey)
        }
    }

    /// The kind for an answer without a known code; the answer to a HEAD has no body.
    private init(status: Int, hasKey: Bool) {
        switch status {
        case 301, 307, 308: self = .wrongRegion
        case 403: self = .accessDenied
        case 404: self = hasKey ? .noSuchKey : .noSuchBucket
        case 412: self = .preconditionFailed
        case 416: self = .invalidRange
        case 429, 503: self = .slowDown
        case 500...599: self = .serverFailure
        default: self = .other
        }
    }
}

/// An answer with its complete body: a value.
struct S3Answer: Sendable {
    let status: Int
    /// The fields, with names in lower case.
    let fields: [String: String]
    let body: Data

    init(status: Int, fields: [String: String], body: Data) {
        self.status = status
        self.fields = Dictionary(fields.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        self.body = body
    }

    func field(_ name: String) -> String? { fields[name.lowercased()] }

    /// The body as a document; nil where it is not one.
    var document: XMLElement? { body.isEmpty ? nil : try? XMLElement.parse(body) }

    /// The body's `Error` element. Some servers put it in an `ErrorResponse`.
    var errorDocument: XMLElement? {
        guard let document else { return nil }
        return document.name == "Error" ? document : document.first("Error")
    }
}

extension String {
    /// The first scalars, without control characters: the text may be logged.
    fileprivate func limited(to count: Int) -> String {
        String(
            String.UnicodeScalarView(unicodeScalars.lazy.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(count)))
    }
}
