import Foundation
import LoadingKit

/// Loads members of ZIP archives by `zip:` URLs, without the rest of the archive.
///
/// ```swift
/// let configuration = URLSessionConfiguration.ephemeral
/// ArchiveLoader().install(in: configuration)
/// let session = URLSession(configuration: configuration)
/// let url = URL(string: "zip:https://example.org/package.whl!/package/METADATA")!
/// let (data, _) = try await session.data(from: url)
/// ```
///
/// The archive's ranges are loaded by the handlers behind this one, in the same task: with the session's cookies, cache,
/// credentials and proxies, and with the request's fields.
public struct ArchiveLoader: Sendable {
    /// What is kept in memory.
    public var limits: ArchiveLimits

    /// A loader with these limits.
    public init(limits: ArchiveLimits = ArchiveLimits()) { self.limits = limits }

    /// Makes the sessions of a configuration load `zip:` URLs. Each call begins with an empty cache of directories.
    ///
    /// Factories that are registered later, such as that of a stack of interceptors for `https`, see the loads of
    /// ranges. The configuration's `protocolClasses` are asked before, and see the `zip:` URL.
    public func install(in configuration: URLSessionConfiguration) {
        let state = ArchiveState(limits: limits, isForAllSessions: false)
        configuration.register(scheme: "zip") { ArchiveHandler(request: $0, state: state) }
    }
}

/// Bounds on what an archive, its server or many archives can make an ``ArchiveLoader`` keep in memory.
public struct ArchiveLimits: Sendable, Hashable {
    /// Bytes of an archive's directory; some 80 for each member. A larger one is ``ArchiveError/directoryTooLarge(size:)``.
    /// Default 32 MiB.
    public var directory = 32 << 20
    /// Bytes of an archive that is loaded whole, as its server does not answer ranges. A larger one is
    /// ``ArchiveError/rangesNotSupported(size:)``. Default 4 MiB.
    public var wholeArchive = 4 << 20
    /// Bytes of all directories that are kept for later loads. Those that were not used for the longest time go first.
    /// Default 16 MiB; 0 for none.
    public var cachedDirectories = 16 << 20
    /// How many directories are kept. Default 64.
    public var cachedDirectoryCount = 64

    /// The defaults.
    public init() {}
}

/// What the loads of one installation share.
struct ArchiveState: Sendable {
    let limits: ArchiveLimits
    let cache: DirectoryCache
    /// Whether sessions use it that have nothing in common.
    let isForAllSessions: Bool

    init(limits: ArchiveLimits, isForAllSessions: Bool) {
        self.limits = limits
        self.isForAllSessions = isForAllSessions
        cache = DirectoryCache(limits)
    }
}
