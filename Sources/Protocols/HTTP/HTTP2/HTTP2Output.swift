import LoadingKitHTTP2

/// What a connection is to write: frames, and the bodies that become frames when there is room.
struct HTTP2Output {
    /// Bytes that may wait to be written before bodies wait.
    private static let highWater = 256 * 1024

    /// What is to be written, of which so many bytes are.
    var frames: [UInt8] = []
    private var written = 0
    /// The streams that have bodies to send.
    var bodies = HTTP2BodyQueue()
    /// Whether a flush is among the loop's work. Independent of the connection's life: a flush finds nothing to do where the
    /// connection is closed.
    private var isPlanned = false

    var isFull: Bool { frames.count - written >= Self.highWater }

    /// Something is to be written. Gives whether the loop is to be asked for a flush.
    mutating func planFlush() -> Bool {
        if isPlanned { return false }
        isPlanned = true
        return true
    }

    /// The loop comes to the flush.
    mutating func flushWillBegin() { isPlanned = false }

    /// Adds the codec's answers where all else is written. Gives whether there is something to write.
    ///
    /// The answers wait inside the codec until the server has read those before: there they are bounded.
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

/// The streams of a connection that have bodies to send, the more urgent before the others.
struct HTTP2BodyQueue {
    /// In the order of their turns.
    private(set) var streams: [HTTP2ClientStream] = []

    var isEmpty: Bool { streams.isEmpty }

    mutating func insert(_ stream: HTTP2ClientStream, priority: Float) {
        let index = streams.firstIndex { ($0.exchange?.priority ?? 0) < priority }
        streams.insert(stream, at: index ?? streams.endIndex)
    }

    mutating func removeFinished() { streams.removeAll { $0.body == nil } }

    mutating func removeAll() { streams = [] }
}
