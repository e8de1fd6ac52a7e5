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
/// The handlers after this one load the archive's ranges, in the same task: with the session's cookies, cache,
/// credentials and proxies, and with the request's fields.
public struct ArchiveLoader: Sendable {
    /// The limits for memory.
    public var limits: ArchiveLimits

    /// Makes a loader with these limits.
    public init(limits: ArchiveLimits = ArchiveLimits()) { self.limits = limits }

    /// Makes the sessions of a configuration load `zip:` URLs. Each call starts with an empty cache of directories.
    ///
    /// Interceptors that are added later, and factories that are registered later, get the range requests. The
    /// configuration's `protocolClasses` are tried before, and get the `zip:` URL.
    public func install(in configuration: URLSessionConfiguration) {
        let state = ArchiveState(limits: limits, cache: DirectoryCache(limits))
        configuration.register(scheme: "zip") { load in
            var archiveLoad = try ArchiveLoad(load: load, state: state)
            try await archiveLoad.run()
        }
    }
}

/// Limits for the memory that an ``ArchiveLoader`` uses because of an archive, its server or many archives.
public struct ArchiveLimits: Sendable, Hashable {
    /// The largest size of an archive's directory in bytes, with about 80 for each member. For a larger one the error
    /// is ``ArchiveError/directoryTooLarge(size:)``. Default 32 MiB.
    public var directory = 32 << 20
    /// The largest size in bytes of an archive that is loaded as a whole, because its server does not support ranges.
    /// For a larger one the error is ``ArchiveError/rangesNotSupported(size:)``. Default 4 MiB.
    public var wholeArchive = 4 << 20
    /// The number of bytes of all directories that are kept for later loads. The least recently used are removed first.
    /// Default 16 MiB; 0 for none.
    public var cachedDirectories = 16 << 20
    /// The number of directories that are kept. Default 64.
    public var cachedDirectoryCount = 64

    /// Makes the default limits.
    public init() {}
}

/// The state that the loads of one installation share.
struct ArchiveState: Sendable {
    let limits: ArchiveLimits
    let cache: DirectoryCache
}
