import CLoadingKitOpenSSL
import Dispatch
import LoadingKitPrimitives

/// The authorities of each source, which contexts share: reading them takes milliseconds. They are read on first use,
/// and again if their files have changed.
package final class SharedTrustStore: Sendable {
    package static let ofProcess = SharedTrustStore()
    /// The number of sources. A process that performs other programs' transfers has several.
    private static let limit = 16

    private let time: TimeSource
    private let patience: DispatchTimeInterval
    private let entries = Guarded<[(source: TrustSource, files: FollowedFiles<TrustAnchors>)]>([])

    init(time: TimeSource = .system, patience: DispatchTimeInterval = FileChecks.patience) {
        self.time = time
        self.patience = patience
    }

    func anchors(_ source: TrustSource) throws(TransportError) -> TrustAnchors {
        let now = time.now
        if let known = entries.withLock({ $0.first { $0.source == source } }) { return known.files.value(now) }
        let new = try FollowedFiles(source, now, patience: patience)
        return entries.withLock { entries -> FollowedFiles<TrustAnchors> in
            if let known = entries.first(where: { $0.source == source }) { return known.files }
            if entries.count >= Self.limit { entries = [] }
            entries.append((source, new))
            return new
        }.value(now)
    }

    /// The next connection checks the files, however recent the last check is.
    package func checkAtNextUse() {
        for entry in entries.withLock({ $0 }) { entry.files.checkAtNextUse() }
    }
}

extension TrustSource: FileSource {
    func read() throws(TransportError) -> (value: TrustAnchors, places: Set<String>) {
        guard let store = X509_STORE_new() else { throw TransportError.misconfiguredTLS(OpenSSLError.text()) }
        defer { X509_STORE_free(store) }
        let places = try read(into: store)
        TrustStore.allowPartialChains(store)
        guard let anchors = TrustAnchors(sharing: store) else {
            throw TransportError.misconfiguredTLS("no trust store")
        }
        return (anchors, places)
    }
}
