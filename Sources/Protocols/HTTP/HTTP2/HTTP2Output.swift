import LoadingKitHTTP2

/// The output of a connection: frames to write, and the bodies that become frames when there is room.
struct HTTP2Output {
    /// With more bytes to write, bodies have to wait.
    private static let highWater = 256 * 1024

    var frames: [UInt8] = []
    private var written = 0
    /// The number of bytes that were written on the connection.
    private(set) var writtenInAll = 0
    var bodies = HTTP2BodyQueue()
    /// Whether a flush is scheduled on the loop.
    private var isPlanned = false

    /// The end of the last frame, counted from the connection's first byte.
    var end: Int { writtenInAll + frames.count - written }

    var isFull: Bool { frames.count - written >= Self.highWater }

    /// Returns whether a flush must be scheduled on the loop.
    mutating func planFlush() -> Bool {
        if isPlanned { return false }
        isPlanned = true
        return true
    }

    mutating func flushWillBegin() { isPlanned = false }

    /// Adds the codec's answers if all other output is written. They wait inside the codec, which limits their number,
    /// until the server has read the earlier ones. Returns whether there are bytes to write.
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

    /// Removes written bytes early: while bodies add frames, there may be no time at which all frames are written.
    mutating func didWrite(_ count: Int) {
        written += count
        writtenInAll &+= count
        guard written >= Self.highWater else { return }
        frames.removeFirst(written)
        written = 0
    }
}

/// The streams of a connection that have bodies to send, the more urgent ones first. Those of equal priority take turns.
struct HTTP2BodyQueue {
    struct Entry {
        let stream: HTTP2ClientStream
        fileprivate let priority: Float
    }

    private(set) var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func insert(_ stream: HTTP2ClientStream, priority: Float) {
        let index = entries.firstIndex { $0.priority < priority }
        entries.insert(Entry(stream: stream, priority: priority), at: index ?? entries.endIndex)
    }

    /// Moves a stream that has sent a frame behind the others of its priority.
    mutating func didSend(_ stream: HTTP2ClientStream) {
        guard entries.count > 1, let index = entries.firstIndex(where: { $0.stream === stream }) else { return }
        let entry = entries.remove(at: index)
        let end = entries[index...].firstIndex { $0.priority < entry.priority }
        entries.insert(entry, at: end ?? entries.endIndex)
    }

    mutating func removeFinished() { entries.removeAll { $0.stream.body == nil } }
    mutating func removeAll() { entries = [] }
}
