public import Foundation

/// The conformance data that this project's tests read in place; see its README.
public enum Conformance {
    /// `../shared/conformance`, seen from the package's root.
    public static var folder: URL {
        URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "shared/conformance", directoryHint: .isDirectory)
    }

    /// The URL of a file or folder there, for example `http1/sample.md`.
    public static func url(_ path: String) -> URL { folder.appending(path: path) }
}
