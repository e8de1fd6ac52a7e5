/// Ends a stream whose last bytes may not have reached the peer. What the peer has sent or still sends is read and dropped:
/// closing with unread bytes would reset the connection, and the system would drop what it has not sent. The timer retains
/// the stream, which retains its handler.
final class LingeringClose: ByteStreamHandler {
    /// The time in which the socket has to take the last bytes, in seconds: the peer may read slowly.
    private static let timeToSend = 30.0
    /// The time that the peer then has to end its side, in seconds.
    private static let timeToEnd = 2.0
    /// The number of reads in a row before the loop's other connections have their turn.
    private static let readsInARow = 16

    private var timer: LoopTimer?
    private var isSent = false
    private var hasPeerEnded = false

    func begin(_ stream: ByteStream) {
        stream.handler = self
        close(stream, after: Self.timeToSend)
        streamDidBecomeWritable(stream)
        // Not at once: the caller may be using `loop.scratch`.
        stream.loop.executeLater { self.streamDidBecomeReadable(stream) }
    }

    func streamDidBecomeWritable(_ stream: ByteStream) {
        guard !isSent else { return }
        isSent = stream.sendRestAndEnd()
        if isSent { close(stream, after: Self.timeToEnd) }
        closeIfDone(stream)
    }

    func streamDidBecomeReadable(_ stream: ByteStream) {
        for _ in 0..<Self.readsInARow {
            switch stream.read(into: stream.loop.scratch) {
            case .bytes: continue
            case .wouldBlock: return
            case .end, .failed:
                hasPeerEnded = true
                return closeIfDone(stream)
            }
        }
        stream.notifyInNextTurn()
    }

    private func close(_ stream: ByteStream, after seconds: Double) {
        timer?.cancel()
        timer = stream.loop.schedule(at: stream.loop.now.advanced(bySeconds: seconds)) { stream.close() }
    }

    private func closeIfDone(_ stream: ByteStream) {
        guard stream.loss != nil || isSent && hasPeerEnded else { return }
        timer?.cancel()
        stream.close()
    }
}
