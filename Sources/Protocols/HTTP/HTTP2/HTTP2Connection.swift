import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitPrimitives
import LoadingKitTransport

/// One HTTP/2 connection. It moves bytes between its socket and the state machine, for many exchanges at a time.
final class HTTP2Connection: ByteStreamHandler, @unchecked Sendable {  // confined to `loop`
    /// The time that the server has to end its side after a stream of another protocol has sent its last bytes, in
    /// seconds.
    static let lingerTime = 2.0

    /// The number of reads in a row before the loop's other connections have their turn.
    static let readsInARow = 16

    /// The longest time for which reading rests, in nanoseconds.
    static let longestRest: UInt64 = 1_000_000_000

    let stream: ByteStream
    let pool: ConnectionPoolDriver
    let metrics: ConnectionMetrics
    // Overlapping accesses are not checked, because each check costs as much as the access: these are values that call
    // no other object, and only the loop's thread uses them, one call after the other.
    /// The connection's identifier in its pool.
    @exclusivity(unchecked) var id = HTTPConnectionPool.ConnectionID(index: -1, generation: 0)
    @exclusivity(unchecked) var life = HTTP2ConnectionLife()
    @exclusivity(unchecked) var codec: HTTP2ConnectionStateMachine
    @exclusivity(unchecked) var streams = StreamTable<HTTP2ClientStream?>(vacant: nil)
    /// The number of streams that are held back.
    @exclusivity(unchecked) var holdingCount = 0
    @exclusivity(unchecked) var output = HTTP2Output()
    @exclusivity(unchecked) var bandwidth: BandwidthEstimator
    @exclusivity(unchecked) var windows: ConnectionWindows
    @exclusivity(unchecked) var ping: KeepAlivePing
    @exclusivity(unchecked) var timers = Timers()
    /// The number of bytes received since the last event.
    @exclusivity(unchecked) var uncounted = 0
    /// The connection's membership in the process's idle connections; nil until it has been idle, and after it is
    /// closed.
    @exclusivity(unchecked) private var membership: IdleConnections.Membership?
    @exclusivity(unchecked) var log: HTTP2FrameLog?

    /// Each timer retains the connection until it fires or the pool closes the connection.
    struct Timers {
        /// Fires when the server's liveness is to be checked.
        var ping: LoopTimer?
        /// Runs while reading rests.
        var rest: LoopTimer?

        mutating func cancel() {
            ping?.cancel()
            rest?.cancel()
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
    }

    var loop: EventLoop { stream.loop }

    // MARK: From the pool

    /// The streams that the connection can carry now. The server's settings state whether streams may switch to another
    /// protocol.
    var slots: HTTPConnectionPool.StreamSlots {
        let isUsable = life.isOpen && (!pool.isForUpgrade || takesUpgrades)
        return HTTPConnectionPool.StreamSlots(
            available: isUsable ? codec.availableStreams : 0, open: streams.count,
            awaitsSettings: pool.isForUpgrade && !life.hasSettings)
    }

    /// Whether the server lets streams switch to other protocols (RFC 8441 §3).
    var takesUpgrades: Bool { codec.peerSettings.enableConnectProtocol }

    /// The time from which the connection takes no new requests.
    var retiresAt: MonotonicTime { ping.retiresAt }

    /// The connection becomes one of the process's idle connections, some of which are closed if there are too many.
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
        pool.connectionDidClose(self)
    }

    func carry(_ exchange: HTTPExchange) {
        if life.isIdle { membership?.connectionDidBecomeActive() }
        guard let isReused = life.noteRequest() else { return exchange.restartElsewhere() }
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
        let number = try codec.sendRequest(head, endStream: body == nil, to: &output.frames)
        let carried = HTTP2ClientStream(number, exchange, self)
        streams.insert(carried, for: number)
        carried.isListed = true
        exchange.assigned(to: carried)
        exchange.didSendHead(output.frames.count - before)
        begin(body, carried, exchange)
        readAgain()
    }

    func begin(_ body: HTTP2BodySender?, _ carried: HTTP2ClientStream, _ exchange: HTTPExchange) {
        guard let body else {
            exchange.didSendRequest()
            return
        }
        carried.body = body
        output.bodies.insert(carried, priority: exchange.priority)
        guard body.awaitsContinue else { return }
        let number = carried.number
        _ = loop.schedule(at: loop.now.advanced(bySeconds: RequestBody.continueTimeout)) { [weak self] in
            self?.continueSending(number)
        }
    }

    func continueSending(_ number: HTTP2StreamID) {
        find(number)?.body?.awaitsContinue = false
        flushLater()
    }

    /// Takes no more exchanges, and closes when its last exchange has ended.
    func retire() {
        life.retire()
        if streams.isEmpty { close() }
    }

    func close() {
        guard life.close() != nil else { return }
        letGo()
        codec.sendGoAway(.noError, to: &output.frames)
        _ = writeOutput()
        stream.close()
    }

    /// Cancels the timers, and leaves the process's idle connections.
    func letGo() {
        timers.cancel()
        // The streams retain the connection.
        output.bodies.removeAll()
        membership = nil
    }

    // MARK: Streams

    func find(_ number: HTTP2StreamID) -> HTTP2ClientStream? { streams.find(number).flatMap { streams[$0] } }

    /// Removes a stream. Returns false if it was removed before.
    @discardableResult
    func remove(_ number: HTTP2StreamID) -> Bool {
        guard let place = streams.find(number) else { return false }
        streams[place]?.isListed = false
        streams.remove(at: place)
        return true
    }

    // MARK: From streams

    func abandon(_ carried: HTTP2ClientStream) {
        if finishUpgrade(carried) {
            flushLater()
            return resetLater(carried)
        }
        remove(carried.number)
        carried.body = nil
        guard !life.isClosed else { return }
        codec.sendReset(carried.number, .cancel, to: &output.frames)
        flushLater()
        reportSlotsLater()
    }

    /// Sends the last bytes of another protocol, and the end of the message. Returns false if the stream has not
    /// switched, or if the windows do not allow it.
    func finishUpgrade(_ carried: HTTP2ClientStream) -> Bool {
        guard let body = carried.body, body.isUpgrade, life.isOpen else { return false }
        carried.body = nil
        guard let last = body.takeLastOutput() else { return false }
        do throws(HTTP2Error) {
            guard last.isEmpty || codec.sendableBytes(on: carried.number) >= last.count else { return false }
            try codec.sendDataHeader(last.count, on: carried.number, endStream: true, to: &output.frames)
            output.frames += last
            return true
        } catch {
            return false
        }
    }

    /// The server has some time to end its side, too: a reset may overtake bytes that the server has not yet read.
    func resetLater(_ carried: HTTP2ClientStream) {
        _ = loop.schedule(at: loop.now.advanced(bySeconds: Self.lingerTime)) { [weak self] in
            guard let self, find(carried.number) === carried else { return }
            abandon(carried)
        }
    }

    /// A stream is no longer held back, or a new stream was opened.
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

    /// Whether the connection expects nothing from the server now, because all streams are held back and none sends.
    var isHeldBack: Bool {
        output.bodies.isEmpty && !streams.isEmpty && holdingCount == streams.count
    }

    /// Reports once for all streams that end together. When a session cancels its tasks, a cancelled request is thus
    /// not replaced by a request that is about to be cancelled, too.
    func reportSlotsLater() {
        guard life.planReport() else { return }
        loop.executeLater { [self] in
            if life.takeReport() { streamDidEnd() }
        }
    }

    func streamDidEnd() {
        readAgain()
        switch life.streamsEnd(isLast: streams.isEmpty) {
        case .reportSlots: pool.streamSlotsDidChange(self)
        case .close:
            close()
            pool.connectionDidClose(self)
        case .nothing: break
        }
    }
}

extension HTTP2Settings {
    /// The settings that a connection sends to the server.
    ///
    /// - Parameter limits: the limits of the connection's codec, one of which is sent to the server.
    static func client(_ limits: HTTP2Limits) -> HTTP2Settings {
        var settings = HTTP2Settings()
        settings.initialWindowSize = UInt32(BandwidthEstimator.initialStream)
        settings.maxConcurrentStreams = 0
        settings.maxHeaderListSize = UInt32(clamping: limits.headerListBytes)
        settings.noRFC7540Priorities = true
        return settings
    }
}
