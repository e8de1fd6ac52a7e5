import Foundation
import Synchronization

/// What `mem:` URLs stand for. Sessions share a store only where the program gives both the same one.
public final class MemStore: Sendable {
    /// What one URL stands for.
    public struct Entry: Sendable {
        public let data: Data
        /// The media type, such as `text/plain`.
        public let type: String
        /// Says which version of the entry this is: each change makes another.
        public let tag: String
    }

    /// How many bytes all entries may have together.
    public let capacity: Int
    /// A folder whose files become entries when they are first read.
    let folder: URL?
    private let entries = Mutex<[String: Entry]>([:])

    public init(capacity: Int = 64 << 20, folder: URL? = nil) {
        self.capacity = capacity
        self.folder = folder
    }

    /// The entry of a name; nil where there is none.
    public subscript(name: String) -> Entry? { entries.withLock { $0[name] } }

    /// Makes or replaces an entry, or appends to it.
    ///
    /// - Returns: whether the entry is new.
    /// - Throws: `MemError.noRoom` where the store would have more bytes than its capacity.
    @discardableResult
    public func write(_ data: Data, to name: String, type: String, appending: Bool = false) throws -> Bool {
        try entries.withLock { entries in
            let old = entries[name]
            let new = appending ? (old?.data ?? Data()) + data : data
            let others = entries.values.reduce(0) { $0 + $1.data.count } - (old?.data.count ?? 0)
            guard new.count <= capacity - others else { throw MemError.noRoom(capacity: capacity) }
            entries[name] = Entry(data: new, type: type, tag: "\"\(UUID().uuidString)\"")
            return old == nil
        }
    }
}

/// Why a `mem:` URL cannot be loaded.
public enum MemError: Error, Hashable, LocalizedError {
    /// The URL names no entry, or has a host.
    case nameMissing(URL)
    /// The store would have more bytes than it may have.
    case noRoom(capacity: Int)

    public var errorDescription: String? {
        switch self {
        case .nameMissing(let url): "\(url) names no entry: write it as mem:name"
        case .noRoom(let capacity): "the store may have \(capacity) bytes, and not more"
        }
    }
}
