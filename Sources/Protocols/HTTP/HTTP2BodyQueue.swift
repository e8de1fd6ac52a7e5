import LoadingKitHTTP2

/// The streams of a connection that have bodies to send, the more urgent before the others.
struct HTTP2BodyQueue {
    private var streams: [HTTP2ClientStream] = []

    var isEmpty: Bool { streams.isEmpty }

    mutating func insert(_ stream: HTTP2ClientStream, priority: Float) {
        let index = streams.firstIndex { ($0.exchange?.priority ?? 0) < priority }
        streams.insert(stream, at: index ?? streams.endIndex)
    }

    /// Lets each stream in turn put one frame, until none does or `isFull`.
    mutating func run(_ putFrame: (HTTP2ClientStream) -> Bool, until isFull: () -> Bool) {
        var isMoving = true
        while isMoving, !streams.isEmpty, !isFull() {
            isMoving = false
            for stream in streams where !isFull() && putFrame(stream) { isMoving = true }
            streams.removeAll { $0.body == nil }
        }
    }
}
