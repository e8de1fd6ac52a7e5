import LoadingKitHTTP2

/// The output of a connection: frames to write, and the bodies that become frames when there is room.
struct HTTP2Output {
    /// The number of bytes that may wait to be written before bodies have to wait.
    private static let highWater = 256 * 1024

    /// The frames to write. `written` is the number of their bytes that are written.
    var frames: [UInt8] = []
    private var written = 0
    /// The streams that have bodies to send.
    var bodies = HTTP2BodyQueue()
    /// Whether a flush is scheduled on the loop. It does not depend on the connection's life: a flush of a closed
    /// connection does nothing.
    private var isPlanned = false

    var isFull: Bool { frames.count - written >= Self.highWater }

    /// There are bytes to write. Returns whether a flush must be scheduled on the loop.
    mutating func planFlush() -> Bool {
        if isPlanned { return false }
        isPlanned = true
        return true
    }

    /// The scheduled flush begins.
    mutating func flushWillBegin() { isPlanned = false }

    /// Adds the codec's answers if all other output is written. Returns whether there are bytes to write.
    ///
    /// The answers wait inside the codec, which limits their number, until the server has read the earlier ones.
    mutating func prepare(_ codec: inout HTTP2ConnectionStateMachine) -> Bool {
        if written == frames.count {
            frames.removeAll(keepingCapacity: true)
            written = 0
            codec.drainControlBytes(into: &frames)
        }
        return !frames.isEmpty
    }

    func withUnwritten<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        frames.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[written...])) }
    }

    mutating func didWrite(_ count: Int) { written += count }
}

/// The streams of a connection that have bodies to send, the more urgent ones first.
struct HTTP2BodyQueue {
    /// The streams in the order of their turns.
    private(set) var streams: [HTTP2ClientStream] = []

    var isEmpty: Bool { streams.isEmpty }

    mutating func insert(_ stream: HTTP2ClientStream, priority: Float) {
        let index = streams.firstIndex { ($0.exchange?.priority ?? 0) < priority }
        streams.insert(stream, at: index ?? streams.endIndex)
    }

    mutating func removeFinished() { streams.removeAll { $0.body == nil } }

    mutating func removeAll() { streams = [] }
}
