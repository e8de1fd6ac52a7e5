import Foundation

/// The address of a container's credentials, from its environment: a value.
///
/// Source: *Container credential provider* of the AWS SDKs and Tools reference guide.
struct ContainerEndpoint: Sendable, Equatable {
    /// The source of the `Authorization` value.
    enum Token: Sendable, Equatable {
        case none
        case value(String)
        case file(path: String)
    }

    let url: URL
    let token: Token

    /// Nil where the environment specifies none.
    ///
    /// - Throws: ``S3CredentialsError/malformed(source:reason:)`` for an address that must not be used for credentials.
    init?(environment: [String: String]) throws {
        let environment = environment.filter { !$0.value.isEmpty }
        if let path = environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] {
            guard path.hasPrefix("/"), let url = URL(string: "http://169.254.170.2\(path)"),
                url.host == "169.254.170.2"
            else { throw Self.malformed("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not a path that begins with /") }
            self.url = url
        } else if let text = environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] {
            guard let url = URL(string: text), let host = url.host, !host.isEmpty else {
                throw Self.malformed("AWS_CONTAINER_CREDENTIALS_FULL_URI is not a URL with a host")
            }
            guard Self.isAllowed(scheme: url.scheme?.lowercased() ?? "", host: host.lowercased()) else {
                throw Self.malformed(
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or http to a loopback address, 169.254.170.2, "
                        + "169.254.170.23 or fd00:ec2::23")
            }
            self.url = url
        } else {
            return nil
        }
        if let path = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] {
            token = .file(path: path)
        } else {
            token = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"].map { .value($0) } ?? .none
        }
    }

    private static func malformed(_ reason: String) -> S3CredentialsError {
        .malformed(source: "the container's environment", reason: reason)
    }

    private static func isAllowed(scheme: String, host: String) -> Bool {
        if scheme == "https" { return true }
        let host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        return scheme == "http"
            && (["localhost", "::1", "169.254.170.2", "169.254.170.23", "fd00:ec2::23"].contains(host)
                || isLoopback(host))
    }

    /// Whether the host consists of four numbers, of which the first is 127. A name such as `127.example.org` does not
    /// match.
    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The value of `Authorization`; nil for none. A file's final line end is not part of it.
    ///
    /// - Throws: ``S3CredentialsError`` for a missing file, and for a token that is not valid in a field.
    func authorization() throws -> String? {
        let text: String
        switch token {
        case .none: return nil
        case .value(let value): text = value
        case .file(let path):
            guard let content = try SharedFiles.text(path) else {
                throw S3CredentialsError.failed(
                    source: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", reason: "there is no file \(path)")
            }
            text = content.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw Self.malformed(
                "the authorization token is empty, or has characters that are not permitted in a field")
        }
        return text
    }
}
