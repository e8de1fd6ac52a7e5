import Foundation

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
        let folder = environment["HOME"].map { "\($0)/.aws" }
        func expanded(_ path: String) -> String {
            guard path.hasPrefix("~/"), let home = environment["HOME"] else { return path }
            return home + path.dropFirst()
        }
        // The credentials file takes precedence, and comes last.
        let paths: [(String?, ProfileFile.Kind)] = [
            (environment["AWS_CONFIG_FILE"].map(expanded) ?? folder.map { "\($0)/config" }, .config),
            (
                environment["AWS_SHARED_CREDENTIALS_FILE"].map(expanded) ?? folder.map { "\($0)/credentials" },
                .credentials
            ),
        ]
        files = paths.compactMap { path, kind in path.map { ($0, kind) } }
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
            throw S3CredentialsError.failed(source: path, reason: "it cannot be opened; look at its permissions")
        }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: maximumSize + 1) ?? Data() else {
            throw S3CredentialsError.failed(source: path, reason: "it cannot be read")
        }
        guard data.count <= maximumSize else {
            throw S3CredentialsError.malformed(source: path, reason: "it has more than \(maximumSize) bytes")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw S3CredentialsError.malformed(source: path, reason: "it is no UTF-8")
        }
        return text
    }
}
