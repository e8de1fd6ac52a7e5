import Foundation

/// Asks sources of credentials one after the other, until one is in use.
///
/// A source that is in use and fails ends the chain: another account's credentials would be a surprise.
public struct S3CredentialsChain: S3CredentialsProvider {
    private let sources: [any S3CredentialsProvider]

    /// A chain of these.
    public init(_ sources: [any S3CredentialsProvider]) { self.sources = sources }

    /// The usual chain: environment, shared files, container, instance metadata.
    ///
    /// - Parameter environment: default: the process's.
    public init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.init([
            S3EnvironmentCredentials(environment: environment), S3ProfileCredentials(environment: environment),
            S3ContainerCredentials(environment: environment), S3InstanceMetadataCredentials(environment: environment),
        ])
    }

    /// The credentials of the first source that is in use.
    ///
    /// - Throws: ``S3CredentialsError/noneFound(_:)`` where none is.
    public func credentials() async throws -> S3Credentials {
        var reasons: [String] = []
        for source in sources {
            do {
                return try await source.credentials()
            } catch S3CredentialsError.notConfigured(let reason) {
                reasons.append(reason)
            } catch S3CredentialsError.noneFound(let texts) {
                reasons += texts
            }
        }
        throw S3CredentialsError.noneFound(reasons)
    }
}
