import Foundation

/// AWS Signature Version 4: signs a request for a date, a region and a service. A value; it does no I/O.
///
/// Source: *AWS Signature Version 4 for API requests* and *Authenticating Requests* of Amazon's S3 API reference.
struct SignatureV4: Sendable {
    static let algorithm = "AWS4-HMAC-SHA256"

    let credentials: S3Credentials
    let region: String
    var service = "s3"
    let date: Date

    /// `20150830T123600Z`
    var timestamp: String { AmazonDate.basic(date) }
    private var day: String { String(timestamp.prefix(8)) }

    /// The scope of a signature: a day, a region and a service.
    var scope: String { "\(day)/\(region)/\(service)/aws4_request" }

    /// The signing key; derived from the secret, and valid only for the scope.
    var signingKey: [UInt8] {
        let secret = Array("AWS4\(credentials.secretAccessKey)".utf8)
        return [day, region, service, "aws4_request"].reduce(secret) { Digest.hmac($1, key: $0) }
    }

    func stringToSign(_ request: CanonicalRequest) -> String {
        let digest = Digest.hex(of: Data(request.text.utf8))
        return [Self.algorithm, timestamp, scope, digest].joined(separator: "\n")
    }

    /// The signature in lower-case hexadecimal digits.
    func signature(of request: CanonicalRequest) -> String {
        Digest.hexadecimal(Digest.hmac(stringToSign(request), key: signingKey))
    }

    /// The value of `Authorization`. The request's fields must contain `host` and `x-amz-date`.
    func authorization(for request: CanonicalRequest) -> String {
        "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope), SignedHeaders=\(request.signedFields), "
            + "Signature=\(signature(of: request))"
    }

    /// The query of a presigned request: the request's own items, those of the signature, and the signature.
    ///
    /// - Parameter seconds: the lifetime of the URL; from 1 to 604,800 (seven days).
    func presignedQuery(_ request: CanonicalRequest, seconds: Int) -> [CanonicalRequest.QueryItem] {
        var request = request
        request.query += [
            .init("X-Amz-Algorithm", Self.algorithm), .init("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope)"),
            .init("X-Amz-Date", timestamp), .init("X-Amz-Expires", String(seconds)),
            .init("X-Amz-SignedHeaders", request.signedFields),
        ]
        if let token = credentials.sessionToken { request.query.append(.init("X-Amz-Security-Token", token)) }
        return request.query + [.init("X-Amz-Signature", signature(of: request))]
    }
}
