import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// Records a session's HTTP traffic, from the point of view of its program, in the form of a HAR file.
///
/// ```swift
/// let recorder = HARRecorder()
/// recorder.install(in: configuration)
/// let session = URLSession(configuration: configuration)
/// // …
/// try recorder.write(to: URL(fileURLWithPath: "traffic.har"))
/// ```
///
/// Each request is recorded as the session's interceptors have changed it, and is not delayed. Secrets are redacted
/// before anything is stored.
public final class HARRecorder: Sendable {
    /// The options of a recorder.
    public struct Options: Sendable {
        /// The parts that a recording must not contain. Default ``HARRedaction/standard``.
        public var redaction = HARRedaction.standard
        /// The largest size of a recorded body in bytes, for requests and responses. For a longer body only the size is
        /// recorded. Default 16 MiB.
        public var maximumBodySize = 16 << 20
        /// The largest number of recorded requests: the last ones are kept. Default 10,000; at least 1.
        public var maximumEntries = 10_000
        /// The largest number of bytes of all recorded bodies, and of messages of WebSockets, together. Beyond it,
        /// those of the earliest requests are removed; of bodies only the sizes remain. Default 256 MiB.
        public var maximumBytes = 256 << 20
        /// Whether bodies are recorded. Default true.
        public var recordsBodies = true
        /// The creator of the recording.
        public var creator = HARCreator.loadingKit
        /// The source of the time. Default the system's clock.
        public var now: @Sendable () -> Date = { Date() }

        /// Makes the default options.
        public init() {}
    }

    private let options: Options
    private let work = OrderedWork()
    private let kept: Guarded<KeptLoads>

    /// Makes an empty recorder.
    public init(options: Options = Options()) {
        self.options = options
        kept = Guarded(KeptLoads(mostLoads: max(options.maximumEntries, 1), mostBytes: options.maximumBytes))
    }

    /// Records the sessions that are made from a configuration from now on, also the responses of classes in
    /// `protocolClasses` and of factories.
    ///
    /// - Parameter schemes: the schemes of the recorded requests. Default `http` and `https`.
    public func install(in configuration: URLSessionConfiguration, schemes: [String] = ["http", "https"]) {
        let queue = EntryQueue(
            HARRules(
                .program, options.redaction, bodyLimit: options.recordsBodies ? options.maximumBodySize : nil,
                schemes: schemes), now: options.now, on: work
        ) { [weak self] in self?.keep($0, $1) }
        configuration.settings.recorders?.append(queue.recording)
    }

    private func keep(_ number: Int, _ entries: [HAREntry]) {
        kept.withLock { $0.insert(entries, number: number) }
    }

    /// The recording up to now: the ended loads, in the order in which they were started.
    public var log: HARLog {
        work.finish()
        return HARLog(creator: options.creator, entries: kept.withLock { $0.entries })
    }

    /// Writes the recording up to now atomically. Only the file's owner can read it.
    public func write(to url: URL) throws(HARError) { try log.write(to: url) }

    /// Removes all recorded requests.
    public func removeAll() {
        work.finish()
        kept.withLock { $0.removeAll() }
    }
}
