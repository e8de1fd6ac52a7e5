import Foundation
import LoadingKit

/// A request of the S3 API before it is signed.
struct S3Operation: Sendable {
    var method: String
    var address: S3Address
    var query: [CanonicalRequest.QueryItem]
    /// The request with the body, timeout, priority and fields. Its URL and its method are replaced.
    var carrier: URLRequest
    /// The body's digest, or its replacement.
    var payload: String

    static let unsignedPayload = "UNSIGNED-PAYLOAD"

    /// The fields of the signature, and fields that only the client may set.
    static let ownFields = ["Authorization", "Host", "X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-Sha256"]

    /// Fields that are part of the signature, where the request has them.
    static func isSigned(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("x-amz-") || name == "content-type" || name == "content-md5"
    }

    /// Whether the request can be sent again: its body is not a stream that was read.
    var isRepeatable: Bool { carrier.httpBodyStream.map { $0.streamStatus == .notOpen } ?? true }

    /// Whether the server copies an object. It sends status 200 before it has finished, and the result or an error after
    /// that (*CopyObject* and *UploadPartCopy* of Amazon's S3 API reference).
    var isCopy: Bool { method == "PUT" && carrier.value(forHTTPHeaderField: "x-amz-copy-source") != nil }

    /// Replaces the body by data, which is digested.
    mutating func setBody(_ body: Data?) {
        carrier.httpBody = body
        carrier.setValue(nil, forHTTPHeaderField: "Content-Length")
        payload = Digest.hex(of: body ?? Data())
    }

    /// A further request for the same object, with its own body and those fields that `isKept` selects.
    func further(
        _ method: String, _ query: [CanonicalRequest.QueryItem], body: Data? = nil, isKept: (String) -> Bool
    ) -> S3Operation {
        var further = self
        (further.method, further.query) = (method, query)
        further.setBody(body)
        for name in (carrier.allHTTPHeaderFields ?? [:]).keys where !isKept(name.lowercased()) {
            further.carrier.setValue(nil, forHTTPHeaderField: name)
        }
        return further
    }

    /// The request as it is sent.
    ///
    /// - Parameters:
    ///   - target: the destination.
    ///   - date: the server's date, as far as it is known.
    func signed(
        for target: S3Endpoint.Target, region: String, with credentials: S3Credentials?, at date: Date
    ) throws -> SignedRequest {
        var request = carrier
        request.url = try target.url(query)
        request.httpMethod = method
        // A cache could have another account's answers, and S3 has no cookies.
        request.cachePolicy = .reloadIgnoringLocalCacheData
        request.httpShouldHandleCookies = false
        for name in Self.ownFields { request.setValue(nil, forHTTPHeaderField: name) }
        // Without this field, the session would set a form's type, which would become the object's type.
        if method == "PUT" || method == "POST", request.value(forHTTPHeaderField: "Content-Type") == nil {
            request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        }
        guard let credentials else { return SignedRequest(request: request, region: region, credentials: nil) }
        let signature = SignatureV4(credentials: credentials, region: region, date: date)
        request.setValue(signature.timestamp, forHTTPHeaderField: "X-Amz-Date")
        request.setValue(payload, forHTTPHeaderField: "X-Amz-Content-Sha256")
        request.setValue(credentials.sessionToken, forHTTPHeaderField: "X-Amz-Security-Token")
        let fields = request.headerFields.filter { Self.isSigned($0.name) }
        let canonical = CanonicalRequest(
            method: method, path: target.path, query: query,
            fields: fields.map { .init($0.name, $0.value) } + [.init("host", target.authority)], payload: payload)
        request.setValue(signature.authorization(for: canonical), forHTTPHeaderField: "Authorization")
        return SignedRequest(request: request, region: region, credentials: credentials)
    }
}

/// A request of the S3 API, signed for a server.
struct SignedRequest: Sendable {
    let request: URLRequest
    let region: String
    /// The credentials of the signature; nil for an anonymous client.
    let credentials: S3Credentials?
}
