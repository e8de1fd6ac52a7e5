import Foundation
import LoadingKit
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
        let source = "the container's endpoint"
        var fields = ["Accept": "application/json"]
        fields["Authorization"] = try endpoint.authorization()
        let session = CredentialsSession(timeout: timeout)
        defer { session.close() }
        do {
            let (status, data) = try await session.load(endpoint.url, fields: fields)
            guard status == 200 else {
                throw S3CredentialsError.failed(source: source, reason: "it answers with status \(status)")
            }
            return try CredentialsDocument.credentials(data, source: source)
        } catch let error as URLError {
            try Task.checkCancellation()
            throw S3CredentialsError.failed(source: source, reason: error.plainReason)
        }
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
        let session = CredentialsSession(timeout: timeout)
        defer { session.close() }
        let token = try await token(session)
        let roles = "latest/meta-data/iam/security-credentials/"
        guard let role = try await get(roles, token, session)?.split(separator: "\n").first.map(String.init),
            !role.isEmpty
        else { throw S3CredentialsError.notConfigured("the EC2 instance has no role") }
        guard let document = try await get(roles + PercentCoding.encoded(role.utf8), token, session) else {
            throw S3CredentialsError.failed(source: Self.source, reason: "the role is gone")
        }
        return try CredentialsDocument.credentials(Data(document.utf8), source: Self.source)
    }

    private func token(_ session: CredentialsSession) async throws -> String {
        do {
            let (status, data) = try await session.load(
                url("latest/api/token"), method: "PUT",
                fields: ["X-aws-ec2-metadata-token-ttl-seconds": Self.tokenLifetime])
            let token = String(decoding: data, as: UTF8.self)
            guard status == 200, !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw S3CredentialsError.failed(source: Self.source, reason: "it gives no token (status \(status))")
            }
            return token
        } catch let error as URLError {
            try Task.checkCancellation()
            // There is no service: this machine is not an EC2 instance.
            throw S3CredentialsError.notConfigured("\(Self.source) is not there: \(error.plainReason)")
        }
    }

    /// The answer; nil for 404.
    private func get(_ path: String, _ token: String, _ session: CredentialsSession) async throws -> String? {
        do {
            let (status, data) = try await session.load(url(path), fields: ["X-aws-ec2-metadata-token": token])
            switch status {
            case 200: return String(decoding: data, as: UTF8.self)
            case 404: return nil
            default: throw S3CredentialsError.failed(source: Self.source, reason: "it answers with status \(status)")
            }
        } catch let error as URLError {
            try Task.checkCancellation()
            throw S3CredentialsError.failed(source: Self.source, reason: error.plainReason)
        }
    }

    private func url(_ path: String) throws -> URL {
        var base = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? "http://169.254.169.254"
        while base.hasSuffix("/") { base.removeLast() }
        guard let url = URL(string: "\(base)/\(path)"), ["http", "https"].contains(url.scheme?.lowercased()) else {
            throw S3CredentialsError.malformed(
                source: Self.source, reason: "AWS_EC2_METADATA_SERVICE_ENDPOINT is no URL of http or https")
        }
        return url
    }
}
