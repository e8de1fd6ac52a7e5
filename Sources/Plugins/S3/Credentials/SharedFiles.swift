import Foundation

/// The files of profiles that the environment names, and the profile in use.
struct SharedFiles: Sendable {
    /// A larger file is refused.
    private static let maximumSize = 1 << 20

    /// The name of the profile in use, and whether it was asked for.
    let profile: String
    let isProfileGiven: Bool
    private let files: [(path: String, kind: ProfileFile.Kind)]

    init(environment: [String: String], profile: String? = nil) {
        let environment = environment.filter { !$0.value.isEmpty }
        let given = profile ?? environment["AWS_PROFILE"]
        self.profile = given ?? "default"
        isProfileGiven = given != nil
        // Without HOME, as in an environment that a test gives, no file is looked for in a home folder.
        let folder = environment["HOME"].map { "\($0)/.aws" }
        func expanded(_ path: String) -> String {
            guard path.hasPrefix("~/"), let home = environment["HOME"] else { return path }
            return home + path.dropFirst()
        }
        // What the credentials file says counts more, and comes last.
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

    /// Reads the files. One that is not there has no profiles.
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

    /// A small file's text; nil where there is none.
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
