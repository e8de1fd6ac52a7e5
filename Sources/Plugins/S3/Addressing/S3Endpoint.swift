import Foundation
@_spi(LoadingKitPlugins) import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// The destination of requests for buckets: a server, and the way in which it addresses buckets.
struct S3Endpoint: Sendable, Hashable {
    private enum Server: Hashable {
        /// Amazon's servers, whose names contain the region.
        case amazon(dualStack: Bool)
        /// Another server: scheme, host with port, and a path prefix.
        case custom(scheme: String, authority: String, path: String)
    }

    private let server: Server
    private let addressing: S3Options.Addressing

    /// Makes an endpoint for Amazon's servers.
    init(addressing: S3Options.Addressing, usesDualStack: Bool) {
        server = .amazon(dualStack: usesDualStack)
        self.addressing = addressing
    }

    /// Makes an endpoint for another server.
    ///
    /// - Throws: ``S3OptionsError/invalidEndpoint(_:)``.
    init(_ url: URL, addressing: S3Options.Addressing) throws {
        let scheme = url.scheme?.lowercased() ?? ""
        guard scheme == "http" || scheme == "https", let host = url.canonicalHost, !host.isEmpty, url.user == nil,
            url.password == nil, url.query == nil, url.fragment == nil
        else { throw S3OptionsError.invalidEndpoint(Self.withoutUser(url)) }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let standard = scheme == "http" ? 80 : 443
        let port = url.port.flatMap { $0 == standard ? nil : ":\($0)" } ?? ""
        var path = url.path
        while path.hasSuffix("/") { path.removeLast() }
        server = .custom(
            scheme: scheme, authority: name + port,
            path: PercentCoding.encoded(path, keeping: "-._~/"))
        self.addressing = addressing
    }

    /// The URL's text for an error, without the password.
    private static func withoutUser(_ url: URL) -> String {
        "\(url.scheme ?? "")://\(url.host ?? "")\(url.port.map { ":\($0)" } ?? "")\(url.path)"
    }

    var isSecure: Bool {
        switch server {
        case .amazon: true
        case .custom(let scheme, _, _): scheme == "https"
        }
    }

    /// The destination of a request for an address.
    struct Target: Equatable {
        var scheme: String
        /// The host, with a port that is not the scheme's default: the value of `Host`.
        var authority: String
        /// Percent-encoded.
        var path: String

        func url(_ query: [CanonicalRequest.QueryItem]) throws -> URL {
            let query = query.isEmpty ? "" : "?\(CanonicalRequest.QueryItem.query(query))"
            let origin = "\(scheme)://\(authority)"
            // The query may have a signature and a session's token.
            guard let url = URL(string: origin + path + query) else { throw S3OptionsError.invalidEndpoint(origin) }
            return url
        }
    }

    func target(_ address: S3Address, region: String) -> Target {
        let (scheme, authority, prefix) = place(region)
        if usesHostName(address.bucket) {
            return Target(
                scheme: scheme, authority: "\(address.bucket).\(authority)", path: "\(prefix)/\(address.encodedKey)")
        }
        let key = address.keyBytes.isEmpty ? "" : "/\(address.encodedKey)"
        return Target(scheme: scheme, authority: authority, path: "\(prefix)/\(address.bucket)\(key)")
    }

    private func place(_ region: String) -> (scheme: String, authority: String, path: String) {
        switch server {
        case .amazon(let dualStack):
            let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
            return ("https", "s3.\(dualStack ? "dualstack." : "")\(region).\(domain)", "")
        case .custom(let scheme, let authority, let path): return (scheme, authority, path)
        }
    }

    /// Whether the bucket is part of the host name. A wildcard certificate does not cover names with dots
    /// (RFC 9525 §6.3); over TLS such names are in the path.
    private func usesHostName(_ bucket: String) -> Bool {
        guard BucketName.isHostName(bucket), !(isSecure && bucket.contains(".")) else { return false }
        return switch (addressing, server) {
        case (.path, _): false
        case (.virtualHost, _): true
        case (.automatic, .amazon): !bucket.contains(".")
        case (.automatic, .custom): false
        }
    }

    /// The region for the signature where Amazon's server redirects to another host; nil for a host that does not
    /// belong to the endpoint, which gets neither signature nor token.
    ///
    /// - Parameter region: the region of the previous signature.
    func regionAfterRedirect(to url: URL, bucket: String, from region: String) -> String? {
        guard let host = url.canonicalHost, (url.scheme?.lowercased() == "https") == isSecure else { return nil }
        switch server {
        case .custom(_, let authority, _):
            let port = url.port.map { ":\($0)" } ?? ""
            return [authority, "\(bucket).\(authority)"].contains(host + port) ? region : nil
        case .amazon:
            let labels = host.split(separator: ".").map(String.init)
            guard host.hasSuffix(".amazonaws.com") || host.hasSuffix(".amazonaws.com.cn") else { return nil }
            let end = labels.count - (host.hasSuffix(".cn") ? 3 : 2)
            let service = labels[..<max(0, end)].suffix(3)
            // `s3.region`, `s3.dualstack.region`, `s3-region`, or `s3` without a region.
            if let last = service.last, last == "s3" { return region }
            if let last = service.last, last.hasPrefix("s3-") { return S3Region.checked(String(last.dropFirst(3))) }
            return service.contains("s3") ? service.last.flatMap(S3Region.checked) : nil
        }
    }
}

/// Names of regions, which become part of a host name: they are checked, regardless of their source.
enum S3Region {
    static let standard = "us-east-1"

    /// The region; nil for text with characters other than lower-case letters, digits and hyphens.
    static func checked(_ text: String) -> String? {
        let isName = text.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: "-") || $0.isASCIILetter }
        return isName && text == text.lowercased() && (1...63).contains(text.utf8.count) && !text.hasPrefix("-")
            && !text.hasSuffix("-") ? text : nil
    }
}
