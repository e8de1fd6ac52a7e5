public import Foundation
public import Testing

/// The tables of cases that others publish, which tests read in place. CONTRIBUTING.md says where each can be had.
///
/// What a table checks, tests with cases of our own check as well, so that all rules are tested where there is no table.
public enum ConformanceTable: String, Sendable {
    case cache
    case cookies
    case dataURLs = "data-url"
    case frames = "http2/frames"
    case hpack
    case http1
    case mime
    case x509

    /// What `LOADINGKIT_CONFORMANCE` names, else `../shared/conformance`, seen from the package's root.
    private static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["LOADINGKIT_CONFORMANCE"], !path.isEmpty {
            return URL(filePath: path, directoryHint: .isDirectory)
        }
        return URL(filePath: #filePath).appending(path: "../../../../shared/conformance").standardized
    }()

    /// The folder of the table.
    public var url: URL { Self.folder.appending(path: rawValue, directoryHint: .isDirectory) }

    /// A file or folder of the table.
    public func url(_ path: String) -> URL { url.appending(path: path) }

    fileprivate var exists: Bool { FileManager.default.fileExists(atPath: url.path) }
}

extension Trait where Self == ConditionTrait {
    /// The test or suite runs where the table is. Elsewhere `make test` ends with the comment.
    public static func requires(_ table: ConformanceTable) -> Self {
        .enabled(if: table.exists, "the conformance table \(table.rawValue) is not at \(table.url.path)")
    }
}
