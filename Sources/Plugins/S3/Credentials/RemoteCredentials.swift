import Foundation
@_spi(LoadingKitPlugins) import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Credentials of a container: from the endpoint in `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or
/// `AWS_CONTAINER_CREDENTIALS_FULL_URI` (ECS, EKS, Greengrass, Lambda).
public struct S3ContainerCredentials: S3CredentialsProvider {
    private let environment: HiddenEnvironment
    private let timeout: TimeInterval

    /// - Parameters:
    ///   - environment: default: the process's.
    ///   - timeout: seconds until a request fails. Default 2.
    public init(
        environment: [String: String] = ProcessInfo.processInfo.environment, timeout: TimeInterval = 2
    ) {
        self.environment = HiddenEnvironment(environment)
        self.timeout = timeout
    }

    /// The endpoint's credentials.
    public func credentials() async throws -> S3Credentials {
        guard let endpoint = try ContainerEndpoint(environment: environment.values) else {
            throw S3CredentialsError.notConfigured(
                "the environment has neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor …_FULL_URI")
        }
        var fields = ["Accept": "application/json"]
        fields["Authorization"] = try endpoint.authorization()
        let session = CredentialsSession("the container's endpoint", timeout: timeout)
        defer { session.close() }
        let (status, data) = try await session.load(endpoint.url, fields: fields)
        guard status == 200 else { throw session.failed("it answered with status \(status)") }
        return try CredentialsDocument.credentials(data, source: session.source)
    }
}

/// Credentials of an EC2 instance's role, from its metadata service, version 2: with a token, which a forged request of
/// another program cannot get.
public struct S3InstanceMetadataCredentials: S3CredentialsProvider {
    private static let source = "the instance metadata service"
    /// The lifetime of the requested token in seconds: it is used at once.
    private static let tokenLifetime = "60"

    private let environment: HiddenEnvironment
    private let timeout: TimeInterval

    /// - Parameters:
    ///   - environment: default: the process's. `AWS_EC2_METADATA_DISABLED` and `AWS_EC2_METADATA_SERVICE_ENDPOINT` are
    ///     used.
    ///   - timeout: seconds until a request fails. Default 1, because most machines do not have this service.
    public init(
        environment: [String: String] = ProcessInfo.processInfo.environment, timeout: TimeInterval = 1
    ) {
        self.environment = HiddenEnvironment(environment)
        self.timeout = timeout
    }

    /// The service's credentials.
    public func credentials() async throws -> S3Credentials {
        guard environment["AWS_EC2_METADATA_DISABLED"]?.lowercased() != "true" else {
            throw S3CredentialsError.notConfigured("AWS_EC2_METADATA_DISABLED is true")
        }
        let session = CredentialsSession(Self.source, timeout: timeout)
        defer { session.close() }
        let token = try await token(session)
        let roles = "latest/meta-data/iam/security-credentials/"
        guard let role = try await get(roles, token, session)?.split(separator: "\n").first.map(String.init),
            !role.isEmpty
        else { throw S3CredentialsError.notConfigured("the EC2 instance has no role") }
        guard let document = try await get(roles + PercentCoding.encoded(role), token, session) else {
            throw session.failed("the role no longer exists")
        }
        return try CredentialsDocument.credentials(Data(document.utf8), source: Self.source)
    }

    /// Throws ``S3CredentialsError/notConfigured(_:)`` where this machine is not an EC2 instance, and has no service.
    private func token(_ session: CredentialsSession) async throws -> String {
        let (status, data) = try await session.load(
            url("latest/api/token"), method: "PUT",
            fields: ["X-aws-ec2-metadata-token-ttl-seconds": Self.tokenLifetime]
        ) { .notConfigured("\(Self.source) is not available: \($0)") }
        let token = String(decoding: data, as: UTF8.self)
        guard status == 200, !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw session.failed("it returned no token (status \(status))")
        }
        return token
    }

    /// The answer; nil for 404.
    private func get(_ path: String, _ token: String, _ session: CredentialsSession) async throws -> String? {
        let (status, data) = try await session.load(url(path), fields: ["X-aws-ec2-metadata-token": token])
        switch status {
        case 200: return String(decoding: data, as: UTF8.self)
        case 404: return nil
        default: throw session.failed("it answered with status \(status)")
        }
    }

    private func url(_ path: String) throws -> URL {
        var base = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? "http://169.254.169.254"
        while base.hasSuffix("/") { base.removeLast() }
        guard let url = URL(string: "\(base)/\(path)"), ["http", "https"].contains(url.scheme?.lowercased()) else {
            throw S3CredentialsError.malformed(
                source: Self.source, reason: "AWS_EC2_METADATA_SERVICE_ENDPOINT is not an http or https URL")
        }
        return url
    }
}

/// Sends requests for credentials in a separate session: without proxies, redirects, stores and recordings.
struct CredentialsSession {
    /// The largest number of bytes in an answer.
    private static let maximumAnswer = 64 << 10

    /// The source's name for errors.
    let source: String
    private let session: URLSession

    /// - Parameter timeout: seconds without an answer after which a request fails; twice this time for the whole
    ///   request.
    init(_ source: String, timeout: TimeInterval) {
        self.source = source
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.timeoutIntervalForRequest = timeout
        configuration.timeoutIntervalForResource = timeout * 2
        configuration.maximumCollectedBodySize = Self.maximumAnswer
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        // The token of the instance metadata service is a whole body.
        configuration.preventRecording()
        session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
    }

    /// - Parameter unreachable: makes the error, with the reason, for a request without an answer; nil: `failed`.
    func load(
        _ url: URL, method: String = "GET", fields: [String: String] = [:],
        unreachable: ((String) -> S3CredentialsError)? = nil
    ) async throws -> (status: Int, Data) {
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        do {
            let (data, response) = try await session.data(for: request)
            return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
        } catch let error as URLError {
            try Task.checkCancellation()
            throw unreachable?(error.plainReason) ?? failed(error.plainReason)
        }
    }

    func failed(_ reason: String) -> S3CredentialsError { .failed(source: source, reason: reason) }

    func close() { session.invalidateAndCancel() }
}

/// Refuses redirects, because a token in a field would be sent with them.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension URLError {
    /// The error without text that may contain a URL with secrets: only its code.
    fileprivate var plainReason: String {
        switch code {
        case .timedOut: "it did not answer in time"
        case .cannotConnectToHost, .cannotFindHost, .networkConnectionLost, .notConnectedToInternet:
            "it cannot be reached"
        case .dataLengthExceedsMaximum: "the answer is too long"
        default: "the request failed (URLError \(code.rawValue))"
        }
    }
}

/// The JSON answer of a container's endpoint and of the instance metadata service.
struct CredentialsDocument: Decodable {
    private let Code: String?
    private let AccessKeyId: String?
    private let SecretAccessKey: String?
    private let Token: String?
    private let Expiration: String?

    /// The credentials in the document.
    ///
    /// - Parameter source: the source's name for errors, which show nothing of the document but its code.
    static func credentials(_ data: Data, source: String) throws -> S3Credentials {
        guard let document = try? JSONDecoder().decode(CredentialsDocument.self, from: data) else {
            throw S3CredentialsError.malformed(
                source: source, reason: "the answer is not a JSON object with credentials")
        }
        if let code = document.Code, code != "Success" {
            throw S3CredentialsError.failed(source: source, reason: "it answered with the code \(code.shortened)")
        }
        guard let identifier = document.AccessKeyId, let secret = document.SecretAccessKey else {
            throw S3CredentialsError.malformed(source: source, reason: "the answer has no keys")
        }
        let expiry = try document.Expiration.map { text in
            guard let date = AmazonDate.parse(extended: text) else {
                throw S3CredentialsError.malformed(source: source, reason: "the expiration is not a date")
            }
            return date
        }
        let token = document.Token.flatMap { $0.isEmpty ? nil : $0 }
        return S3Credentials(accessKeyID: identifier, secretAccessKey: secret, sessionToken: token, expiry: expiry)
    }
}

extension String {
    /// The first 64 visible ASCII characters, for an error's text.
    var shortened: String {
        String(decoding: utf8.prefix(64).filter { $0 >= 0x20 && $0 < 0x7F }, as: UTF8.self)
    }
}
