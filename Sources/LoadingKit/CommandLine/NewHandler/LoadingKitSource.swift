import Foundation
import LoadingKitPrimitives

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
        if let place {
            self = .folder(path: try Self.checkedFolder(place))
        } else if let checkout {
            self = .folder(path: checkout)
        } else {
            throw ToolFailure(
                .usage, "this tool is not in LoadingKit's build folder: --loadingkit has to say where LoadingKit is")
        }
    }

    /// SwiftPM's identity of the package, by which products are named: the last part of the place.
    var identity: String {
        switch self {
        case .folder(let path): RepositoryAddress.lastPart(of: path)
        case .repository(let url, _): RepositoryAddress.lastPart(of: url)
        }
    }

    // MARK: Folders

    /// The repository in which this program was built; nil where the program is elsewhere.
    static func ownCheckout() -> String? {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return nil
        }
        return checkout(around: program)
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

    // MARK: Releases

    /// Three numbers, and an optional suffix (Semantic Versioning 2.0.0, §2, §9 and §10).
    private static func release(_ version: String) throws(ToolFailure) -> Requirement {
        let core = version.prefix { $0 != "-" && $0 != "+" }
        let numbers = core.split(separator: ".", omittingEmptySubsequences: false)
        let isNumeric = numbers.allSatisfy { number in
            (1...9).contains(number.utf8.count) && number.utf8.allSatisfy(ASCII.isDigit)
                && (number == "0" || !number.hasPrefix("0"))
        }
        let rest = version.utf8.dropFirst(core.utf8.count)
        let isRestValid = rest.allSatisfy { ASCII.isLetterOrDigit($0) || "-+.".utf8.contains($0) }
        guard numbers.count == 3, isNumeric, isRestValid, rest.count != 1 else {
            throw ToolFailure(.usage, "\"\(version)\" is no version such as 1.2.0")
        }
        return .from(version)
    }
}
