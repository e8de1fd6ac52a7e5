import Foundation
import LoadingKit
import Synchronization

/// Records a session's HTTP traffic, as its program sees it, in the form of a HAR file.
///
/// ```swift
/// let recorder = HARRecorder()
/// recorder.install(in: configuration)
/// let session = URLSession(configuration: configuration)
/// // …
/// try recorder.write(to: URL(fileURLWithPath: "traffic.har"))
/// ```
///
/// Each request is forwarded to the handlers behind the recorder, and takes the time that it would take without.
/// Secrets are redacted before anything is kept.
public final class HARRecorder: Sendable {
    /// What is recorded.
    public struct Options: Sendable {
        /// What a recording must not have. Default ``HARRedaction/standard``.
        public var redaction = HARRedaction.standard
        /// Bytes of a body that are recorded at most, of requests and of responses. Of a longer one the recording has
        /// the size alone. Default 16 MiB.
        public var maximumBodySize = 16 << 20
        /// Requests that are recorded at most: the last ones. Default 10,000; at least 1.
        public var maximumEntries = 10_000
        /// Whether bodies are recorded. Default true.
        public var recordsBodies = true
        /// The program that the recording names as its creator.
        public var creator = HARCreator.loadingKit
        /// The time. Default the system's.
        public var now: @Sendable () -> Date = { Date() }

        /// The defaults.
        public init() {}
    }

    let options: Options
    let redactor: Redactor
    private let state = Mutex(State())

    private struct State {
        var slots: [RecordingSlot] = []
    }

    /// A recorder that has recorded nothing.
    public init(options: Options = Options()) {
        self.options = options
        redactor = Redactor(options.redaction)
    }

    /// Has the sessions that are made of a configuration from now on be recorded.
    ///
    /// It becomes the last of the configuration's interceptors, so that it records what the others have made of a
    /// request, and what classes in `protocolClasses` and a ``StubSet`` answer.
    ///
    /// - Parameter schemes: what is recorded. Default `http` and `https`.
    public func install(in configuration: URLSessionConfiguration, schemes: [String] = ["http", "https"]) {
        configuration.interceptors.append(Recording(self, schemes))
    }

    /// The recording up to now: the loads that are over, in the order in which they were begun.
    public var log: HARLog {
        HARLog(creator: options.creator, entries: state.withLock { $0.slots }.compactMap(\.entry))
    }

    /// Writes the recording up to now, as a whole or not at all. The file may be read by its owner alone.
    public func write(to url: URL) throws(HARError) { try log.write(to: url) }

    /// Forgets what was recorded.
    public func removeAll() { state.withLock { $0 = State() } }

    // MARK: What its interceptor calls

    /// Begins an entry. Where the task's last load was redirected to this request, that load is over now.
    func begin(_ request: URLRequest, _ task: URLSessionTask) -> RecordingSlot {
        let slot = RecordingSlot(request, task, start: options.now())
        let earlier = state.withLock { state in
            let earlier = state.slots.last { $0.isOf(task) }
            state.slots.append(slot)
            let excess = state.slots.count - max(options.maximumEntries, 1)
            if excess > 0 { state.slots.removeFirst(excess) }
            return earlier
        }
        earlier?.finishRedirect()
        return slot
    }
}
