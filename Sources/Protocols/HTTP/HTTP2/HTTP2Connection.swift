import Foundation
import LoadingKitCore
import LoadingKitHTTP2
import LoadingKitPrimitives
import LoadingKitTransport
import Logging

/// One HTTP/2 connection. It moves bytes between its socket and the state machine, for many exchanges at a time.
final class HTTP2Connection: ByteStreamHandler, @unchecked Sendable {  // confined to `loop`
    /// The time for the server to end its side after another protocol's last bytes, in seconds.
    static let lingerTime = 2.0

    /// The number of reads in a row before the loop's other connections have their turn.
    static let readsInARow = 16

    /// The longest time for which reading rests, in nanoseconds.
    static let longestRest: UInt64 = 1_000_000_000

    /// The pause after a cancelled request in which others may be cancelled, before a waiting one takes its place; and
    /// the longest such pause, in nanoseconds.
    static let cancellationPause: UInt64 = 1_000_000
    static let longestCancellationPause: UInt64 = 20_000_000

    let stream: ByteStream
    let pool: ConnectionPoolDriver
    let metrics: ConnectionMetrics
    // Overlapping accesses are not checked, because each check costs as much as the access: these are values that call
    // no other object, and only the loop's thread uses them, one call after the other.
    @exclusivity(unchecked) var id = HTTPConnectionPool.ConnectionID(index: -1, generation: 0)
    @exclusivity(unchecked) var life = HTTP2ConnectionLife()
    @exclusivity(unchecked) var codec: HTTP2ConnectionStateMachine
    @exclusivity(unchecked) var streams = StreamTable<HTTP2ClientStream?>(vacant: nil)
    @exclusivity(unchecked) var holdingCount = 0
    /// The number of streams of other protocols.
    @exclusivity(unchecked) var switchedCount = 0
    @exclusivity(unchecked) var output = HTTP2Output()
    @exclusivity(unchecked) var bandwidth: BandwidthEstimator
    @exclusivity(unchecked) var windows: ConnectionWindows
    @exclusivity(unchecked) var ping: KeepAlivePing
    @exclusivity(unchecked) var timers = Timers()
    @exclusivity(unchecked) var writeError: TransportError?
    /// How often bytes have arrived.
    @exclusivity(unchecked) var arrivalCount = 0
    @exclusivity(unchecked) var requestCount = 0
    /// Nil until the connection has been idle, and after it is closed.
    @exclusivity(unchecked) private var membership: IdleConnections.Membership?
    @exclusivity(unchecked) var log: HTTP2FrameLog?

    /// Each retains the connection until it fires or the connection is closed.
    struct Timers {
        var ping: LoopTimer?
        var rest: LoopTimer?
        var report: LoopTimer?
        /// The latest time for `report`.
        var reportLimit = MonotonicTime.distantFuture

        mutating func cancel() {
            ping?.cancel()
            rest?.cancel()
            report?.cancel()
            self = Timers()
        }
    }

    init(_ stream: ByteStream, _ pool: ConnectionPoolDriver) {
        self.stream = stream
        self.pool = pool
        let now = stream.loop.now
        let limits = HTTP2Limits()
        codec = HTTP2ConnectionStateMachine(
            role: .client, settings: .client(limits), connectionWindow: BandwidthEstimator.connection,
            limits: limits)
        windows = ConnectionWindows(limit: pool.session.settings.maximumUnreadBodySize)
        bandwidth = BandwidthEstimator(now)
        ping = KeepAlivePing(now)
        metrics = ConnectionMetrics(stream.info, protocolName: "h2", isProxied: pool.isProxied)
        log = HTTP2FrameLog(pool.logger)
        stream.handler = self
        codec.sendPreface(to: &output.frames)
        flushLater()
        // Otherwise the check begins with the first request.
        if awaitsSettings { schedulePingCheck() }
    }

    var loop: EventLoop { stream.loop }

    // MARK: From the pool

    /// The server's settings state whether streams may switch to another protocol. After a change of the networks the
    /// server has to answer a PING.
    var slots: HTTPConnectionPool.StreamSlots {
        let isUsable = life.isOpen && (!pool.isForUpgrade || takesUpgrades)
        return HTTPConnectionPool.StreamSlots(
            available: isUsable ? codec.availableStreams : 0, open: streams.count,
            awaitsServer: awaitsSettings || ping.isChecking, switched: switchedCount)
    }

    /// Whether the requests wait for the server's settings.
    var awaitsSettings: Bool { pool.isForUpgrade && !life.hasSettings }

    /// Whether the server lets streams switch to other protocols (RFC 8441 §3).
    var takesUpgrades: Bool { codec.peerSettings.enableConnectProtocol }

    /// The connection joins the process's idle ones, some of which are closed if there are too many.
    func didBecomeIdle() {
        life.keep()
        guard life.isIdle else { return }
        let membership = membership ?? IdleConnections.Membership(on: loop) { [self] in closeIfChosen() }
        self.membership = membership
        membership.connectionDidBecomeIdle()
    }

    private func closeIfChosen() {
        guard life.isIdle, membership?.isChosen == true else { return }
        close()
        pool.connectionDidClose(id, .idle)
    }

    func carry(_ exchange: HTTPExchange) {
        if life.isIdle { membership?.connectionDidBecomeActive() }
        guard let isReused = life.noteRequest() else { return exchange.restartElsewhere() }
        requestCount &+= 1
        ping.requestWillBegin()
        if ping.isDueBeforeUse(loop.now) { sendPing() }
        schedulePingCheck()
        flushLater()
        exchange.use(stream.info, metrics, isReused: isReused)
        do throws(HTTP2Error) {
            try send(exchange)
        } catch {
            reportSlotsLater()
            exchange.failed(StreamFailure(error: error, processing: .begun))
        }
    }

    private func send(_ exchange: HTTPExchange) throws(HTTP2Error) {
        // Answers to the server are written first. They do not count as the request's bytes.
        codec.drainControlBytes(into: &output.frames)
        let before = output.frames.count
        let content = exchange.body
        let body =
            exchange.upgrade.map { HTTP2BodySender($0) }
            ?? HTTP2BodySender(
                content, awaitsContinue: exchange.decideContinue(asksForLongBodies: false))
        let head = exchange.http2Head(with: content)
        exchange.headWillBeSent(head)
        let number = try codec.sendRequest(head, endStream: body == nil, to: &output.frames)
        let stream = HTTP2ClientStream(number, exchange, self)
        streams.insert(stream, for: number)
        stream.isListed = true
        exchange.assigned(to: stream)
        exchange.didSendHead(output.frames.count - before)
        begin(body, stream, exchange)
        readAgain()
    }

    func begin(_ body: HTTP2BodySender?, _ stream: HTTP2ClientStream, _ exchange: HTTPExchange) {
        guard let body else {
            exchange.didSendRequest()
            return
        }
        stream.body = body
        output.bodies.insert(stream, priority: exchange.priority)
        guard body.awaitsContinue else { return }
        let number = stream.number
        _ = loop.schedule(at: loop.now.advanced(bySeconds: RequestBody.continueTimeout)) { [weak self] in
            self?.continueSending(number)
        }
    }

    /// Sends a body that waited for status 100. After a final response the body is not sent.
    func continueSending(_ number: HTTP2StreamID) {
        guard let stream = find(number), !stream.hasResponse else { return }
        stream.body?.awaitsContinue = false
        flushLater()
    }

    /// Takes no more exchanges, and closes with its last one.
    func retire() {
        life.retire()
        if streams.isEmpty { close() }
    }

    func close() {
        guard life.close() != nil else { return }
        releaseResources()
        codec.sendGoAway(.noError, to: &output.frames)
        _ = writeOutput()
        stream.close()
    }

    func releaseResources() {
        timers.cancel()
        // The streams retain the connection.
        output.bodies.removeAll()
        membership = nil
    }

    // MARK: Streams

    func find(_ number: HTTP2StreamID) -> HTTP2ClientStream? { streams.find(number).flatMap { streams[$0] } }

    /// Returns false if the stream was removed before.
    @discardableResult
    func remove(_ number: HTTP2StreamID) -> Bool {
        guard let place = streams.find(number) else { return false }
        streams[place]?.isListed = false
        streams.remove(at: place)
        return true
    }

    // MARK: From streams

    func abandon(_ stream: HTTP2ClientStream) {
        if finishUpgrade(stream) {
            flushLater()
            return resetLater(stream)
        }
        remove(stream.number)
        stream.body = nil
        guard !life.isClosed else { return }
        codec.sendReset(stream.number, .cancel, to: &output.frames)
        flushLater()
        if life.isOpen, pool.waitingCount > 0 { reportSlotsAfterPause() } else { reportSlotsLater() }
    }

    /// Sends another protocol's last bytes, and the end of the message. Returns false if there is no such protocol,
    /// or the window is too small for them.
    func finishUpgrade(_ stream: HTTP2ClientStream) -> Bool {
        guard let body = stream.body, body.isUpgrade, !life.isClosed else { return false }
        stream.body = nil
        guard let last = body.takeLastOutput() else { return false }
        do throws(HTTP2Error) {
            guard last.isEmpty || codec.sendableBytes(on: stream.number) >= last.count else { return false }
            try codec.sendDataHeader(last.count, on: stream.number, endStream: true, to: &output.frames)
            output.frames += last
            return true
        } catch {
            return false
        }
    }

    /// A reset may overtake bytes that the server has not yet read, so it has some time to end its side.
    func resetLater(_ stream: HTTP2ClientStream) {
        _ = loop.schedule(at: loop.now.advanced(bySeconds: Self.lingerTime)) { [weak self] in
            guard let self, find(stream.number) === stream else { return }
            abandon(stream)
        }
    }

    func readAgain() {
        guard life.readAgain() else { return }
        timers.rest?.cancel()
        readAfterRest()
    }

    /// The time without reading does not count as the server's silence.
    private func readAfterRest() {
        timers.rest = nil
        ping.didReceive(loop.now)
        readLater()
    }

    func rest() {
        guard life.rest() else { return }
        let time = loop.now.advanced(byNanoseconds: Self.longestRest)
        timers.rest = loop.schedule(at: time) { [self] in
            if life.endRest() { readAfterRest() }
        }
    }

    /// Whether nothing is expected from the server: all streams are held back, and none sends.
    var isHeldBack: Bool { output.bodies.isEmpty && !streams.isEmpty && holdingCount == streams.count }

    /// Reports once for all streams that end together. When a session cancels its tasks, a cancelled request is thus
    /// not replaced by another that is about to be cancelled.
    func reportSlotsLater() {
        guard life.planReport() || timers.report != nil else { return }
        timers.report?.cancel()
        timers.report = nil
        loop.executeLater { [self] in
            if life.takeReport() { streamDidEnd() }
        }
    }

    /// Reports when no stream has been abandoned for a moment. A program may cancel its tasks one by one, each in a
    /// turn of the loop: the waiting requests, which it cancels next, are not sent meanwhile.
    private func reportSlotsAfterPause() {
        let time = loop.now.advanced(byNanoseconds: Self.cancellationPause)
        if life.planReport() {
            timers.reportLimit = loop.now.advanced(byNanoseconds: Self.longestCancellationPause)
            timers.report = loop.schedule(at: time) { [self] in
                timers.report = nil
                if life.takeReport() { streamDidEnd() }
            }
        } else if let report = timers.report {
            loop.schedule(report, at: min(time, timers.reportLimit))
        }
    }

    func streamDidEnd() {
        readAgain()
        switch life.streamsEnd(isLast: streams.isEmpty) {
        case .reportSlots: pool.streamSlotsDidChange(self)
        case .close:
            close()
            pool.connectionDidClose(id, .retired)
        case .nothing: break
        }
    }
}

/// Describes a connection's frames for the session's logger, if its level includes traces.
struct HTTP2FrameLog {
    private var sent = HTTP2FrameTrace(isOfClient: true)
    private var received = HTTP2FrameTrace(isOfClient: false)

    /// Nil if the logger's level excludes traces.
    init?(_ logger: Logger) { guard logger.logLevel <= .trace else { return nil } }

    mutating func describe(sent bytes: UnsafeRawBufferPointer) -> [String] {
        sent.describe(bytes).map { "HTTP/2 > \($0)" }
    }

    mutating func describe(received bytes: UnsafeRawBufferPointer) -> [String] {
        received.describe(bytes).map { "HTTP/2 < \($0)" }
    }
}

extension HTTP2Settings {
    static func client(_ limits: HTTP2Limits) -> HTTP2Settings {
        var settings = HTTP2Settings()
        settings.initialWindowSize = UInt32(BandwidthEstimator.initialStream)
        settings.maxConcurrentStreams = 0
        settings.maxHeaderListSize = UInt32(clamping: limits.headerListBytes)
        settings.noRFC7540Priorities = true
        return settings
    }
}
