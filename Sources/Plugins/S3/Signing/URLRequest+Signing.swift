import Foundation
@_spi(LoadingKitPlugins) import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

extension URLRequest {
    /// Signs the request for a service other than S3, or for S3 without its own scheme: adds `X-Amz-Date`,
    /// `Authorization`, and the token of temporary credentials. The request must not be changed afterwards.
    ///
    /// - Parameter body: the whole body; nil where it is not known, which S3 alone permits.
    @_spi(LoadingKitPlugins)
    public mutating func sign(
        _ credentials: S3Credentials, region: String, service: String, body: Data?, at date: Date = Date()
    ) {
        guard let url else { return }
        let signature = SignatureV4(credentials: credentials, region: region, service: service, date: date)
        let payload = body.map { Digest.hex(of: $0) } ?? S3Operation.unsignedPayload
        setValue(signature.timestamp, forHTTPHeaderField: "X-Amz-Date")
        setValue(credentials.sessionToken, forHTTPHeaderField: "X-Amz-Security-Token")
        if service == "s3" { setValue(payload, forHTTPHeaderField: "X-Amz-Content-Sha256") }
        let signed = headerFields.filter {
            let name = $0.name.lowercased()
            return name.hasPrefix("x-amz-") || name == "content-type" || name == "host"
        }
        let host = value(forHTTPHeaderField: "Host") == nil ? [CanonicalRequest.Field("host", url.authorityToSign)] : []
        let path = url.path(percentEncoded: true)
        let canonical = CanonicalRequest(
            // Every other service gets the path encoded once more.
            method: httpMethod ?? "GET", path: service == "s3" ? path : Self.encodedAgain(path),
            query: CanonicalRequest.QueryItem.items(of: url.query(percentEncoded: true) ?? ""),
            fields: signed.map { CanonicalRequest.Field($0.name, $0.value) } + host, payload: payload)
        setValue(signature.authorization(for: canonical), forHTTPHeaderField: "Authorization")
    }

    private static func encodedAgain(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { PercentCoding.encoded(String($0)) }
            .joined(separator: "/")
    }
}

extension URL {
    /// Host and port as they are sent: in lower case and in ASCII, without a usual port.
    fileprivate var authorityToSign: String {
        let host = canonicalHost ?? ""
        let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let usual = scheme?.lowercased() == "https" ? 443 : 80
        return port.map { $0 == usual ? bracketed : "\(bracketed):\($0)" } ?? bracketed
    }
}
