import CLoadingKitOpenSSL
import LoadingKitPrimitives

/// The authorities of each source, which contexts share: reading them takes milliseconds. They are read on first use,
/// and again if their files have changed.
///
/// A file that is just being written may be unreadable, or missing. The authorities that were read before are then kept
/// until a later check finds readable files. If others of the source's files can be read, and nothing has changed from
/// one check to the next, these are all that there is.
package final class SharedTrustStore: Sendable {
    package static let ofProcess = SharedTrustStore()
    /// The time from one check of a source's files to the next, in nanoseconds. A check takes some microseconds for a
    /// file, and some hundred for the system's folder.
    static let checkInterval: UInt64 = 5_000_000_000
    /// The number of sources. A process that performs other programs' transfers has several.
    private static let limit = 16

    private struct Entry {
        let anchors: TrustAnchors
        let version: Int
        /// The file and the folders that were read.
        let places: Set<String>
        var nextCheck: MonotonicTime
        /// The version of files that were not used, as some of them could not be read.
        var refusedVersion: Int?

        init(_ source: TrustSource, _ version: Int, nextCheck: MonotonicTime) throws(TransportError) {
            guard let store = X509_STORE_new() else { throw TransportError.misconfiguredTLS(OpenSSLError.text()) }
            defer { X509_STORE_free(store) }
            places = try source.read(into: store)
            TrustStore.allowPartialChains(store)
            guard let anchors = TrustAnchors(sharing: store) else {
                throw TransportError.misconfiguredTLS("no trust store")
            }
            self.anchors = anchors
            self.version = version
            self.nextCheck = nextCheck
        }

        /// Reads the files if they have changed. The version was found before, so that a later change is noticed.
        mutating func update(_ source: TrustSource, _ version: Int, nextCheck: MonotonicTime) {
            self.nextCheck = nextCheck
            guard version != self.version else { return }
            if let new = try? Entry(source, version, nextCheck: nextCheck),
                places.isSubset(of: new.places) || version == refusedVersion
            {
                self = new
            } else {
                refusedVersion = version
            }
        }
    }

    private let time: TimeSource
    private let entries = Guarded<[TrustSource: Entry]>([:])

    init(time: TimeSource = .system) { self.time = time }

    func anchors(_ source: TrustSource) throws(TransportError) -> TrustAnchors {
        let now = time.now
        return try entries.withLock { entries throws(TransportError) in
            try Self.anchors(source, in: &entries, now)
        }
    }

    private static func anchors(
        _ source: TrustSource, in entries: inout [TrustSource: Entry], _ now: MonotonicTime
    ) throws(TransportError) -> TrustAnchors {
        let nextCheck = now.advanced(byNanoseconds: checkInterval)
        guard var entry = entries[source] else {
            let entry = try Entry(source, source.version, nextCheck: nextCheck)
            if entries.count >= limit { entries = [:] }
            entries[source] = entry
            return entry.anchors
        }
        guard now >= entry.nextCheck else { return entry.anchors }
        entry.update(source, source.version, nextCheck: nextCheck)
        entries[source] = entry
        return entry.anchors
    }

    /// The next connection checks the files, however recent the last check is.
    package func checkAtNextUse() {
        let now = time.now
        entries.withLock { entries in for source in entries.keys { entries[source]?.nextCheck = now } }
    }
}
