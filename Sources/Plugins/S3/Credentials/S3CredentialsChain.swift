import Foundation

/// Tries sources of credentials in sequence, until one is in use.
///
/// A source that is in use and fails ends the chain: the credentials of another account would be unexpected.
public struct S3CredentialsChain: S3CredentialsProvider {
    private let sources: [any S3CredentialsProvider]

    /// Makes a chain of these sources.
    public init(_ sources: [any S3CredentialsProvider]) { self.sources = sources }

    /// Makes the usual chain: environment, shared files, container, instance metadata.
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
    /// - Throws: ``S3CredentialsError/noneFound(_:)`` where no source is in use.
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
