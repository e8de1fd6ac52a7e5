import Foundation

/// Credentials from the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, and `AWS_SESSION_TOKEN` where it is
/// set.
///
/// An environment with `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN` in place of keys, as on EKS, is refused with an
/// error that states this, unless `AWS_PROFILE` names a profile.
public struct S3EnvironmentCredentials: S3CredentialsProvider {
    private let environment: HiddenEnvironment

    /// - Parameter environment: default: the process's.
    public init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = HiddenEnvironment(environment)
    }

    /// The variables' values.
    public func credentials() async throws -> S3Credentials {
        guard let identifier = environment["AWS_ACCESS_KEY_ID"] else {
            // The program has a role of its own: a chain must not go on to the machine's role, only to a named profile.
            let name = "AWS_WEB_IDENTITY_TOKEN_FILE"
            if environment[name] != nil, environment["AWS_ROLE_ARN"] != nil, environment["AWS_PROFILE"] == nil {
                throw S3CredentialsError.failed(
                    source: "the environment",
                    reason: "it has \(name), which is not supported; export keys for it, or name a profile")
            }
            throw S3CredentialsError.notConfigured("the environment has no AWS_ACCESS_KEY_ID")
        }
        guard let secret = environment["AWS_SECRET_ACCESS_KEY"] else {
            throw S3CredentialsError.malformed(
                source: "the environment", reason: "AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not")
        }
        return S3Credentials(
            accessKeyID: identifier, secretAccessKey: secret, sessionToken: environment["AWS_SESSION_TOKEN"],
            expiry: environment["AWS_CREDENTIAL_EXPIRATION"].flatMap { AmazonDate.parse(extended: $0) })
    }
}

/// Credentials of a profile in the shared files `~/.aws/credentials` and `~/.aws/config`, or in the files named by
/// `AWS_SHARED_CREDENTIALS_FILE` and `AWS_CONFIG_FILE`.
///
/// The files are read each time. Profiles that need another program or service (`role_arn`, `sso_session`,
/// `credential_process`, `web_identity_token_file`) are refused with an error that states this.
public struct S3ProfileCredentials: S3CredentialsProvider {
    private static let unsupported = [
        "role_arn", "sso_session", "sso_start_url", "credential_process", "web_identity_token_file", "login_session",
    ]

    private let files: SharedFiles

    /// - Parameters:
    ///   - profile: nil: `AWS_PROFILE`, or `default`.
    ///   - environment: default: the process's.
    public init(profile: String? = nil, environment: [String: String] = ProcessInfo.processInfo.environment) {
        files = SharedFiles(environment: environment, profile: profile)
    }

    /// The profile's keys.
    public func credentials() async throws -> S3Credentials {
        let source = "profile \(files.profile)"
        guard let properties = try files.read().profiles[files.profile] else {
            let places = files.paths.isEmpty ? "no file, as HOME is not set" : files.paths.joined(separator: " or ")
            if files.isProfileGiven {
                throw S3CredentialsError.failed(source: source, reason: "there is no such profile in \(places)")
            }
            throw S3CredentialsError.notConfigured("there is no \(source) in \(places)")
        }
        guard let identifier = properties["aws_access_key_id"] else {
            if let name = Self.unsupported.first(where: { properties[$0] != nil }) {
                throw S3CredentialsError.failed(
                    source: source, reason: "it has \(name), which is not supported; export keys for it instead")
            }
            throw S3CredentialsError.notConfigured("the \(source) has no aws_access_key_id")
        }
        guard let secret = properties["aws_secret_access_key"] else {
            throw S3CredentialsError.malformed(source: source, reason: "it has no aws_secret_access_key")
        }
        return S3Credentials(
            accessKeyID: identifier, secretAccessKey: secret, sessionToken: properties["aws_session_token"])
    }
}

/// The profile files of the environment, and the current profile.
struct SharedFiles: Sendable {
    /// The largest size of a file in bytes; a larger one is refused.
    private static let maximumSize = 1 << 20

    /// The name of the current profile, and whether it was set explicitly.
    let profile: String
    let isProfileGiven: Bool
    private let files: [(path: String, kind: ProfileFile.Kind)]

    init(environment: [String: String], profile: String? = nil) {
        let environment = environment.filter { !$0.value.isEmpty }
        let given = profile ?? environment["AWS_PROFILE"]
        self.profile = given ?? "default"
        isProfileGiven = given != nil
        // Without HOME, as in a test's environment, no home folder is searched.
        let home = environment["HOME"]
        func location(_ variable: String, _ name: String) -> String? {
            guard let path = environment[variable] else { return home.map { "\($0)/.aws/\(name)" } }
            guard path.hasPrefix("~/"), let home else { return path }
            return home + path.dropFirst()
        }
        // The credentials file takes precedence, and comes last.
        var files: [(path: String, kind: ProfileFile.Kind)] = []
        if let path = location("AWS_CONFIG_FILE", "config") { files.append((path, .config)) }
        if let path = location("AWS_SHARED_CREDENTIALS_FILE", "credentials") { files.append((path, .credentials)) }
        self.files = files
    }

    var paths: [String] { files.map(\.path) }

    /// Reads the files. A missing file has no profiles.
    func read() throws -> ProfileFile {
        var all = ProfileFile()
        for (path, kind) in files {
            guard let text = try Self.text(path) else { continue }
            do {
                all.merge(try ProfileFile(text, kind))
            } catch {
                throw S3CredentialsError.malformed(source: path, reason: "line \(error.line) is \(error.reason)")
            }
        }
        return all
    }

    /// A small file's text; nil where the file is missing.
    static func text(_ path: String) throws -> String? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw S3CredentialsError.failed(source: path, reason: "it cannot be opened; check its permissions")
        }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: maximumSize + 1) ?? Data() else {
            throw S3CredentialsError.failed(source: path, reason: "it cannot be read")
        }
        guard data.count <= maximumSize else {
            throw S3CredentialsError.malformed(source: path, reason: "it has more than \(maximumSize) bytes")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw S3CredentialsError.malformed(source: path, reason: "it is not UTF-8")
        }
        return text
    }
}
