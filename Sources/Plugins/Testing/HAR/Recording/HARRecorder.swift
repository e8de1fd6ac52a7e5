import Foundation
import LoadingKit
import Synchronization

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
/// Each request is forwarded to the handlers after the recorder, and is not delayed. Secrets are redacted before
/// anything is stored.
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
        /// Whether bodies are recorded. Default true.
        public var recordsBodies = true
        /// The creator of the recording.
        public var creator = HARCreator.loadingKit
        /// The source of the time. Default the system's clock.
        public var now: @Sendable () -> Date = { Date() }

        /// Makes the default options.
        public init() {}
    }

    let options: Options
    let redactor: Redactor
    private let slots = Mutex<[RecordingSlot]>([])

    /// Makes an empty recorder.
    public init(options: Options = Options()) {
        self.options = options
        redactor = Redactor(options.redaction)
    }

    /// Records the sessions that are made from a configuration from now on.
    ///
    /// It becomes the last of the configuration's interceptors: it records a request as the other interceptors have
    /// changed it, and the responses of classes in `protocolClasses` and of a ``StubSet``.
    ///
    /// - Parameter schemes: the schemes of the recorded requests. Default `http` and `https`.
    public func install(in configuration: URLSessionConfiguration, schemes: [String] = ["http", "https"]) {
        configuration.interceptors.append(Recording(self, schemes))
    }

    /// The recording up to now: the ended loads, in the order in which they were started.
    public var log: HARLog {
        HARLog(creator: options.creator, entries: slots.withLock { $0 }.compactMap(\.entry))
    }

    /// Writes the recording up to now atomically. Only the file's owner can read it.
    public func write(to url: URL) throws(HARError) { try log.write(to: url) }

    /// Removes all recorded requests.
    public func removeAll() { slots.withLock { $0 = [] } }

    // MARK: Called by its interceptor

    /// Starts an entry. Where the task's last load was redirected to this request, that load has now ended.
    func begin(_ request: URLRequest, _ task: URLSessionTask) -> RecordingSlot {
        let slot = RecordingSlot(request, task, start: options.now())
        let earlier = slots.withLock { slots in
            defer { slots.append(slot, keepingLast: options.maximumEntries) }
            return slots.last { $0.isOf(task) }
        }
        earlier?.finishRedirect()
        return slot
    }
}

extension Array {
    /// Appends an element, and removes the first ones where there are more than `limit`, which is at least 1.
    mutating func append(_ element: Element, keepingLast limit: Int) {
        append(element)
        let excess = count - Swift.max(limit, 1)
        if excess > 0 { removeFirst(excess) }
    }
}
