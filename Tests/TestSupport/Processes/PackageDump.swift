import Foundation

/// A package's manifest as SwiftPM understands it: compiled and run, without its dependencies.
package struct PackageDump: Sendable {
    /// SwiftPM did not accept the manifest.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    package let name: String
    /// The targets' names.
    package let targets: [String]
    /// The dependencies in JSON, with sorted keys: strings in it are what SwiftPM takes for places and versions.
    package let dependencies: String

    /// - Parameter manifest: the text of a `Package.swift`.
    package init(_ manifest: String) async throws {
        let folder = try TemporaryFolder()
        try folder.write(manifest, to: "Package.swift")
        let list = try JSONSerialization.jsonObject(with: try await Self.dump(folder)) as? [String: Any] ?? [:]
        name = list["name"] as? String ?? ""
        targets = (list["targets"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
        let dependencies = try JSONSerialization.data(
            withJSONObject: list["dependencies"] ?? [], options: [.sortedKeys, .withoutEscapingSlashes])
        self.dependencies = String(decoding: dependencies, as: UTF8.self)
    }

    private static func dump(_ folder: TemporaryFolder) async throws -> Data {
        let output = try FileHandle(forWritingTo: folder.write("", to: "output"))
        let errors = try FileHandle(forWritingTo: folder.write("", to: "errors"))
        let process = try ChildProcess(
            "/usr/bin/env",
            [
                "swift", "package", "dump-package", "--package-path", folder.path, "--manifest-cache", "none",
                "--cache-path", folder.file("cache").path, "--scratch-path", folder.file("scratch").path,
            ], streams: .init(output: output.fileDescriptor, errors: errors.fileDescriptor))
        let status = try await onThread { process.waitForExit() }
        withExtendedLifetime((output, errors)) {}
        guard status == 0 else {
            throw Refusal(description: try String(contentsOf: folder.file("errors"), encoding: .utf8))
        }
        return try Data(contentsOf: folder.file("output"))
    }
}
