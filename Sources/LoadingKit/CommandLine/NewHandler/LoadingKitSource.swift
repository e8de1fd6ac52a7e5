import Foundation

/// The source from which the package of a new handler gets LoadingKit.
enum LoadingKitSource: Hashable, Sendable {
    case folder(path: String)
    case repository(url: String, Requirement)

    enum Requirement: Hashable, Sendable {
        case branch(String)
        /// This release or a later one of the same major version.
        case from(String)
    }

    /// - Parameters:
    ///   - place: a folder or a repository, as the user types it; nil where none was given.
    ///   - version: a release of the repository; nil where none was given.
    ///   - checkout: the source where no place was given.
    init(_ place: String?, version: String? = nil, checkout: String? = nil) throws(ToolFailure) {
        if let place, RepositoryAddress.isAddress(place) {
            let address = try RepositoryAddress(place)
            self = .repository(url: address.text, try version.map(Self.release) ?? .branch("main"))
            return
        }
        guard version == nil else {
            throw ToolFailure(.usage, "--version is for a repository: --loadingkit has to be a URL, and no folder")
        }
        guard let folder = try place.map(Self.checkedFolder) ?? checkout else {
            throw ToolFailure(
                .usage, "this tool is not in LoadingKit's build folder: --loadingkit has to say where LoadingKit is")
        }
        self = .folder(path: folder)
    }

    var isFolder: Bool { if case .folder = self { true } else { false } }

    /// SwiftPM's identity of the package, by which products are named: the last part of the place.
    var identity: String {
        switch self {
        case .folder(let place), .repository(let place, _): RepositoryAddress.lastPart(of: place)
        }
    }

    /// The dependency in the manifest's syntax.
    var dependency: String {
        switch self {
        case .folder(let path): ".package(path: \(SourceText.literal(path)))"
        case .repository(let url, .branch(let name)):
            ".package(url: \(SourceText.literal(url)), branch: \(SourceText.literal(name)))"
        case .repository(let url, .from(let version)):
            ".package(url: \(SourceText.literal(url)), from: \(SourceText.literal(version)))"
        }
    }

    /// The repository in which this program was built; nil where the program is elsewhere.
    static func ownCheckout() -> String? {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")).flatMap(checkout(around:))
    }

    /// The nearest folder around a file that contains LoadingKit's package.
    static func checkout(around file: String) -> String? {
        var folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        while folder.path != "/", !folder.path.isEmpty {
            if isLoadingKit(folder) { return folder.path }
            folder.deleteLastPathComponent()
        }
        return nil
    }

    private static func checkedFolder(_ path: String) throws(ToolFailure) -> String {
        let folder = URL(fileURLWithPath: path, isDirectory: true).standardizedFileURL
        // An empty path must not mean the tool's current folder.
        guard !path.isEmpty, isLoadingKit(folder) else {
            throw ToolFailure(.usage, "\"\(path)\" does not hold LoadingKit: there is no Package.swift of that name")
        }
        return folder.path
    }

    private static func isLoadingKit(_ folder: URL) -> Bool {
        let manifest = try? String(contentsOf: folder.appendingPathComponent("Package.swift"), encoding: .utf8)
        return manifest?.contains("name: \"LoadingKit\"") ?? false
    }

    /// Three numbers, and an optional suffix (Semantic Versioning 2.0.0, §2, §9 and §10).
    private static func release(_ version: String) throws(ToolFailure) -> Requirement {
        let form = /(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2}([-+][-+.0-9A-Za-z]+)?/.matchingSemantics(
            .unicodeScalar)
        guard (try? form.wholeMatch(in: version)) != nil else {
            throw ToolFailure(.usage, "\"\(version)\" is no version such as 1.2.0")
        }
        return .from(version)
    }
}

/// The address of a Git repository: a URL, or `user@host:path` in ssh's form.
struct RepositoryAddress: Hashable, Sendable {
    private static let schemes: Set<String> = ["https", "http", "ssh", "git", "file"]

    let text: String

    init(_ text: String) throws(ToolFailure) {
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
            throw ToolFailure(.usage, "the repository's URL has a space or control character in it: \(text)")
        }
        let scheme = text.prefix { $0 != ":" }.lowercased()
        if text.contains("://"), !Self.schemes.contains(scheme) || URL(string: text) == nil {
            throw ToolFailure(.usage, "this is no URL of a repository: \(text)")
        }
        let name = Self.lastPart(of: text)
        guard !name.isEmpty, !name.contains(":"), !name.contains("@") else {
            throw ToolFailure(.usage, "the repository's URL has no name at its end: \(text)")
        }
        self.text = text
    }

    /// Whether the text has the form of an address, and not of a path.
    static func isAddress(_ text: String) -> Bool {
        if text.contains("://") { return true }
        guard let at = text.firstIndex(of: "@"), let colon = text.firstIndex(of: ":"), at < colon else { return false }
        return !text[..<colon].contains("/")
    }

    /// The part after the last slash, without `.git`.
    static func lastPart(of place: String) -> String {
        let last = place.split(separator: "/").last.map(String.init) ?? ""
        return last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    }
}
