import Foundation
import Synchronization

/// The most recently used directories of archives. Before each use, a response must have confirmed that the archive is
/// unchanged, and that this request may have it.
final class DirectoryCache: Sendable {
    struct Key: Sendable, Hashable {
        private let archive: String
        /// Requests with different credentials, cookies or languages may get different archives.
        private let fields: [String: String]

        init(_ archive: URL, _ fields: [String: String]) {
            self.archive = archive.absoluteString
            self.fields = fields
        }
    }

    struct Entry: Sendable {
        var directory: CentralDirectory
        var version: ArchiveVersion
    }

    private struct State {
        var entries: [Key: (entry: Entry, lastUse: UInt64)] = [:]
        var size = 0
        var uses: UInt64 = 0
    }

    private let state = Mutex(State())
    private let limits: ArchiveLimits

    init(_ limits: ArchiveLimits) { self.limits = limits }

    var count: Int { state.withLock { $0.entries.count } }

    /// The number of bytes of all directories.
    var size: Int { state.withLock { $0.size } }

    func entry(for key: Key) -> Entry? {
        state.withLock { state in
            guard let found = state.entries[key] else { return nil }
            state.uses += 1
            state.entries[key]?.lastUse = state.uses
            return found.entry
        }
    }

    func remove(_ key: Key) {
        state.withLock { state in
            if let old = state.entries.removeValue(forKey: key) { state.size -= old.entry.directory.size }
        }
    }

    /// Stores a directory, unless it has no validator for later loads, or is too large.
    func store(_ entry: Entry, for key: Key) {
        guard entry.version.hasValidator, entry.directory.size <= limits.cachedDirectories,
            limits.cachedDirectoryCount > 0
        else { return }
        state.withLock { state in
            state.uses += 1
            if let old = state.entries.updateValue((entry, state.uses), forKey: key) {
                state.size -= old.entry.directory.size
            }
            state.size += entry.directory.size
            while state.size > limits.cachedDirectories || state.entries.count > limits.cachedDirectoryCount {
                guard let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
                state.entries[oldest.key] = nil
                state.size -= oldest.value.entry.directory.size
            }
        }
    }
}
