import Foundation
import LoadingKitCore
import LoadingKitHTTP2
import LoadingKitTransport

/// Detects and handles the end of a connection: by GOAWAY, by an error, or by a PING without an answer.
extension HTTP2Connection {
    /// GOAWAY: the server accepts no more streams, and has not processed some of them.
    func leave(_ unprocessed: [HTTP2StreamID], _ code: HTTP2ErrorCode, _ text: String) {
        let isRefusal = !life.noteGoAway() && !unprocessed.isEmpty
        // The server is not busy: it takes the requests over HTTP/1.1 (RFC 9113 §7).
        let needsHTTP1 = code == .http11Required
        let maySendAgain = needsHTTP1 || !isRefusal || pool.connectionWasRefused()
        pool.connectionWillClose(self, .retired, unprocessed: unprocessed.count)
        if needsHTTP1 { pool.requireHTTP1() }
        let words = "the server is closing the connection (\(code)\(text.isEmpty ? "" : ": \(text)"))"
        for stream in inOrder(unprocessed.compactMap(find)) where find(stream.number) === stream {
            let error = LoadFailure(.networkConnectionLost, words)
            let isUnseen = !stream.hasResponse && maySendAgain
            end(stream, with: StreamFailure(error: error, processing: isUnseen ? .notSent : .begun), reset: nil)
        }
        streamDidEnd()
    }

    /// Sorts streams by the age of their exchanges. They are sent again in this order.
    func inOrder(_ streams: [HTTP2ClientStream]) -> [HTTP2ClientStream] {
        streams.sorted { ($0.exchange?.number ?? 0) < ($1.exchange?.number ?? 0) }
    }

    /// - Parameter isSilent: whether the server still has the connection, as far as is known, and does not answer.
    func connectionLost(_ error: any Error, isSilent: Bool = false) {
        let isFailedAttempt = awaitsSettings
        guard let closing = life.close() else { return }
        releaseResources()
        stream.close()
        if isFailedAttempt { return pool.connectionDidFail(self, error) }
        // A server that violates the protocol is running, and may be processing the requests that it received.
        let isFault = error is HTTP2Error || (error as? TransportError)?.category == .secureConnectionFailed
        let lost = inOrder(streams.ids.compactMap(find))
        streams = StreamTable(vacant: nil)
        for stream in lost {
            stream.isListed = false
            stream.body = nil
        }
        pool.connectionWillClose(self, .lost)
        for stream in lost {
            // The connection may have been lost before the request arrived (RFC 9110 §9.2.2). If it never carried more
            // than this request, the request itself may be the cause. A server that has sent something since the
            // request, or that no longer answers, has not closed an idle connection.
            let isUnanswered = !stream.hasResponse && (stream.number > 1 || lost.count > 1)
            let mayBeProcessed = closing == .afterGoAway || isFault || isSilent || stream.hasHeardSince
            let processing: StreamFailure.Processing =
                isUnanswered ? (mayBeProcessed ? .possible : .unknown) : .begun
            stream.failed(StreamFailure(error: error, processing: processing))
        }
        pool.connectionDidClose(id, .lost)
    }

    // MARK: Keep-alive

    func sendPing() {
        codec.sendPing(KeepAlivePing.livenessPing, to: &output.frames)
        ping.pingWasSent(loop.now)
        noteUnacknowledged()
    }

    private func noteUnacknowledged() { ping.noteUnacknowledged(stream.unacknowledgedBytes, loop.now) }

    /// The networks have changed. No stream begins before the server has answered a PING.
    func check() {
        guard !life.isClosed else { return }
        codec.sendPing(ping.beginCheck(loop.now), to: &output.frames)
        noteUnacknowledged()
        schedulePingCheck()
        flushLater()
    }

    func pingWasAnswered(_ value: UInt64) {
        if ping.pingWasAnswered(value) { return pool.streamSlotsDidChange(self) }
        guard value == KeepAlivePing.windowPing, let finding = bandwidth.pingWasAnswered(loop.now),
            // An abandoned stream of another protocol, which waits for the server's end, has given its window back.
            let stream = find(finding.stream), stream.exchange != nil, !stream.isHolding,
            finding.onTheWay >= stream.window / 4 * 3
        else { return }
        let isLarger = enlargeWindow(of: stream, to: stream.window * BandwidthEstimator.growth)
        if isLarger { bandwidth.windowDidGrow(loop.now) }
    }

    func schedulePingCheck() {
        guard timers.ping == nil else { return }
        timers.ping = loop.schedule(at: ping.nextCheck(loop.now)) { [self] in checkPing() }
    }

    func checkPing() {
        timers.ping = nil
        guard !streams.isEmpty || ping.awaitsAnswer else { return }
        if life.reading == .resting { ping.didReceive(loop.now) }
        codec.timeDidPass(seconds: Int(KeepAlivePing.quietTime / 1_000_000_000))
        if ping.awaitsAnswer { noteUnacknowledged() }
        switch ping.check(loop.now) {
        case .fine: break
        case .sendPing:
            sendPing()
            flushLater()
        case .dead(let words):
            return connectionLost(LoadFailure(.networkConnectionLost, words), isSilent: true)
        }
        schedulePingCheck()
    }
}
