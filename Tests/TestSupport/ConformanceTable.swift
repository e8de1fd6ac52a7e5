public import Foundation
public import Testing

/// Tables of cases that other projects publish, which tests read in place. Tests with cases of our own check the same rules, for
/// machines without the tables.
public enum ConformanceTable: String, Sendable {
    /// `cache-tests.json`: `tests/*.mjs` of https://github.com/http-tests/cache-tests (BSD-3) as JSON.
    case cache
    /// `parser.json`, `dates.json` and `dates-bsd.json`: `parser.json`, `dates/examples.json` and `dates/bsd-examples.json` of
    /// `tests/data` of https://github.com/abarth/http-state.
    case cookies
    /// `data-urls.json` and `base64.json`: `fetch/data-urls/resources` of https://github.com/web-platform-tests/wpt, or
    /// `data-url/tests` of https://github.com/servo/rust-url (BSD-3, MIT).
    case dataURLs = "data-url"
    /// https://github.com/http2jp/http2-frame-test-case (MIT).
    case frames = "http2/frames"
    /// `nghttp2`, `nghttp2-change-table-size`, `go-hpack` and `raw-data` of https://github.com/http2jp/hpack-test-case (MIT).
    case hpack
    /// `test/response/*.md` of https://github.com/nodejs/llhttp (MIT).
    case http1
    /// `mime-types.json` and `generated-mime-types.json`: `mimesniff/mime-types/resources` of the sources of ``dataURLs``.
    case mime
    /// `limbo.json`: 98 of the chains of https://github.com/C2SP/x509-limbo (Apache-2.0).
    case x509

    /// The folder in `LOADINGKIT_CONFORMANCE`; otherwise `../shared/conformance`, relative to the package's root.
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
