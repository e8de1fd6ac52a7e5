import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitPrimitives
import LoadingKitTransport
import Logging

/// One HTTP/2 connection: moves bytes between its socket and the state machine, for many exchanges at a time.
final class HTTP2Connection: ByteStreamHandler, @unchecked Sendable {  // confined to `loop`
    /// Bytes that may wait to be written before bodies wait.
    static let outputHighWater = 256 * 1024

    /// When a stream that carried another protocol has said its last, the server may take so long to do so, in seconds.
    static let lingerTime = 2.0

    /// Reads in a row before the loop's other connections have their turn.
    static let readsInARow = 16

    enum State {
        case open
        /// No new streams; it ends with those that it has. After the server's GOAWAY those are the ones that it may have
        /// processed.
        case leaving(isGoAway: Bool)
        case closed
    }

    enum Reading {
        case active
        /// All streams are held back: what comes for them is left to TCP for a while.
        case resting(LoopTimer)
        /// They still are, but the server may be waiting for an answer to a PING: bodies are kept, as far as windows go.
        case readingOn
        /// The connection is closed.
        case stopped
    }

    /// Reading rests so long at most, in nanoseconds.
    static let longestRest: UInt64 = 1_000_000_000

    /// Whether it is one of the process's idle connections.
    enum Idleness {
        /// It has not been idle, or is closed.
        case none
        case idle(IdleConnections.Membership)
        /// It carries requests again.
        case active(IdleConnections.Membership)
    }

    let stream: ByteStream
    let pool: ConnectionPoolDriver
    /// What the pool knows it by.
    var id = HTTPConnectionPool.ConnectionID(index: -1, generation: 0)
    let loop: EventLoop
    // Not looked at for overlapping accesses, which each cost as much as what is done: these are values that call nothing
    // back, and only the loop's thread uses them, one call after the other.
    @exclusivity(unchecked) var codec: HTTP2ConnectionStateMachine
    @exclusivity(unchecked) var streams = StreamTable<HTTP2ClientStream?>(vacant: nil)
    @exclusivity(unchecked) var bandwidth: BandwidthEstimator
    /// What is to be written, of which so many bytes are.
    @exclusivity(unchecked) var output: [UInt8] = []
    @exclusivity(unchecked) var written = 0
    var bodies = HTTP2BodyQueue()
    @exclusivity(unchecked) var state = State.open
    /// What has happened so far.
    @exclusivity(unchecked) var opening = HTTP2Opening()
    /// Whether ``flush()`` is among the loop's work. Independent of the state: a flush finds nothing to do where it is closed.
    @exclusivity(unchecked) var willFlush = false
    /// Whether ``streamDidEnd()`` is among the loop's work, likewise.
    @exclusivity(unchecked) var willReportSlots = false
    var ping: KeepAlivePing
    /// Holds this object, as do other timers, until it fires or the connection is closed, which its pool sees to.
    var pingTimer: LoopTimer?
    @exclusivity(unchecked) var reading = Reading.active
    var log: HTTP2FrameLog?
    let metrics: ConnectionMetrics

    /// Bytes received since the last event.
    @exclusivity(unchecked) var uncounted = 0

    @exclusivity(unchecked) var idleness = Idleness.none
    /// From when on it takes no new requests.
    let retiresAt: MonotonicTime

    init(_ stream: ByteStream, _ pool: ConnectionPoolDriver) {
        self.stream = stream
        self.pool = pool
        loop = stream.loop
        let limits = HTTP2Limits()
        codec = HTTP2ConnectionStateMachine(
            role: .client, settings: .client(limits), connectionWindow: BandwidthEstimator.initialConnection,
            limits: limits)
        bandwidth = BandwidthEstimator(loop.now)
        ping = KeepAlivePing(loop.now)
        retiresAt = loop.now.advanced(byNanoseconds: KeepAlivePing.maximumAge)
        metrics = ConnectionMetrics(stream.info, protocolName: "h2", isProxied: pool.isProxied)
        log = HTTP2FrameLog(pool.logger)
        stream.handler = self
        codec.sendPreface(to: &output)
        flushLater()
    }

    // MARK: From the pool

    /// What it can carry now. Whether streams may switch to another protocol the server says in its settings.
    var slots: HTTPConnectionPool.StreamSlots {
        let isUsable = if case .open = state { !pool.isForUpgrade || takesUpgrades } else { false }
        return HTTPConnectionPool.StreamSlots(
            available: isUsable ? codec.availableStreams : 0, open: streams.count,
            awaitsSettings: pool.isForUpgrade && !opening.hasSettings)
    }

    /// Whether the server lets streams switch to other protocols (RFC 8441 §3).
    var takesUpgrades: Bool { codec.peerSettings.enableConnectProtocol }

    var isIdle: Bool { streams.isEmpty }

    /// It is one of the process's idle connections, of which some are closed when they are many.
    func didBecomeIdle() {
        let membership =
            switch idleness {
            case .none: IdleConnections.Membership(on: loop) { [self] in endIfChosen() }
            case .idle(let membership), .active(let membership): membership
            }
        idleness = .idle(membership)
        membership.connectionDidBecomeIdle()
    }

    func endIfChosen() {
        guard isIdle, case .idle(let membership) = idleness, membership.isChosen else { return }
        close()
        pool.connectionDidClose(self)
    }

    func carry(_ exchange: HTTPExchange) {
        if case .idle(let membership) = idleness {
            idleness = .active(membership)
            membership.connectionDidBecomeActive()
        }
        exchange.use(stream.info, metrics, isReused: opening.noteRequest())
        do throws(HTTP2Error) {
            // Answers to the server go first, and are not the request's.
            codec.drainControlBytes(into: &output)
            let before = output.count
            let content = exchange.body
            let body =
                exchange.upgrade.map { HTTP2BodySender($0) }
                ?? HTTP2BodySender(
                    content, awaitsContinue: exchange.decideContinue(asksForLongBodies: false))
            let head = exchange.http2Head(with: content)
            let number = try codec.sendRequest(head, endStream: body == nil, to: &output)
            let carried = HTTP2ClientStream(number, exchange, self)
            streams.insert(carried, for: number)
            exchange.assigned(to: carried)
            exchange.didSendHead(output.count - before)
            begin(body, carried, exchange)
            readAgain()
        } catch {
            exchange.failed(StreamFailure(error: error, processing: .begun))
            reportSlotsLater()
        }
        if ping.isDueBeforeUse(loop.now) { sendPing() }
        schedulePingCheck()
        flushLater()
    }

    func begin(_ body: HTTP2BodySender?, _ carried: HTTP2ClientStream, _ exchange: HTTPExchange) {
        guard let body else {
            exchange.didSendRequest()
            return
        }
        carried.body = body
        bodies.insert(carried, priority: exchange.priority)
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

    /// Takes no more exchanges, and ends with those that it has.
    func retire() {
        if case .open = state { state = .leaving(isGoAway: false) }
        if isIdle { close() }
    }

    func close() {
        if case .closed = state { return }
        state = .closed
        idleness = .none
        stop()
        codec.sendGoAway(.noError, to: &output)
        _ = writeOutput()
        stream.close()
    }

    // MARK: Streams

    func find(_ number: HTTP2StreamID) -> HTTP2ClientStream? { streams.find(number).flatMap { streams[$0] } }

    /// Takes a stream out; false when it was before.
    @discardableResult
    func remove(_ number: HTTP2StreamID) -> Bool {
        guard let place = streams.find(number) else { return false }
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
        codec.sendReset(carried.number, .cancel, to: &output)
        flushLater()
        reportSlotsLater()
    }

    /// Sends the last of another protocol's bytes, and the message's end; false when there is nothing of the kind, or the
    /// windows do not allow it.
    func finishUpgrade(_ carried: HTTP2ClientStream) -> Bool {
        guard let body = carried.body, body.isUpgrade, case .open = state else { return false }
        carried.body = nil
        guard let last = body.takeLastOutput() else { return false }
        do throws(HTTP2Error) {
            guard last.isEmpty || codec.sendableBytes(on: carried.number) >= last.count else { return false }
            try codec.sendDataHeader(last.count, on: carried.number, endStream: true, to: &output)
            output += last
            return true
        } catch {
            return false
        }
    }

    /// The server has some time to end its side, too: a reset may overtake what it has not yet read.
    func resetLater(_ carried: HTTP2ClientStream) {
        _ = loop.schedule(at: loop.now.advanced(bySeconds: Self.lingerTime)) { [weak self] in
            guard let self, find(carried.number) === carried else { return }
            abandon(carried)
        }
    }

    func didConsume(_ count: Int, of number: HTTP2StreamID) { codec.openWindow(of: number, by: count) }

    /// A stream is no longer held back, or there is another.
    func readAgain() {
        switch reading {
        case .active, .stopped: return
        case .readingOn: reading = .active
        case .resting(let timer):
            timer.cancel()
            reading = .active
            ping.didReceive(loop.now)
            readLater()
        }
    }

    func rest() {
        let time = loop.now.advanced(byNanoseconds: Self.longestRest)
        reading = .resting(
            loop.schedule(at: time) { [self] in
                readAgain()
                reading = .readingOn
            })
    }

    /// Whether nothing is wanted of the server at the moment.
    var isHeldBack: Bool {
        guard case .active = reading, bodies.isEmpty, !streams.isEmpty else { return false }
        return streams.allSatisfy { $0?.isHolding == true }
    }

    /// Reports once for all the streams that end together: a session that cancels its tasks has no request put in the place of
    /// each, to be cancelled next.
    func reportSlotsLater() {
        guard !willReportSlots else { return }
        willReportSlots = true
        loop.executeLater { [self] in
            willReportSlots = false
            streamDidEnd()
        }
    }

    func streamDidEnd() {
        readAgain()
        switch state {
        case .open: pool.streamSlotsDidChange(self)
        case .leaving where isIdle:
            close()
            pool.connectionDidClose(self)
        case .leaving, .closed: break
        }
    }
}

extension HTTP2Settings {
    /// The settings that a connection sends to the server.
    ///
    /// - Parameter limits: those of the connection's codec, of which the server is told one.
    static func client(_ limits: HTTP2Limits) -> HTTP2Settings {
        var settings = HTTP2Settings()
        settings.initialWindowSize = UInt32(BandwidthEstimator.initialStream)
        settings.maxConcurrentStreams = 0
        settings.maxHeaderListSize = UInt32(clamping: limits.headerListBytes)
        settings.noRFC7540Priorities = true
        return settings
    }
}

/// Writes a connection's frames to the session's logger, where that takes traces.
struct HTTP2FrameLog {
    private let logger: Logger
    private var sent = HTTP2FrameTrace(isOfClient: true)
    private var received = HTTP2FrameTrace(isOfClient: false)

    /// Nil where the logger takes no traces.
    init?(_ logger: Logger) {
        guard logger.logLevel <= .trace else { return nil }
        self.logger = logger
    }

    mutating func send(_ bytes: UnsafeRawBufferPointer) {
        for line in sent.describe(bytes) { logger.trace("HTTP/2 > \(line)") }
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        for line in received.describe(bytes) { logger.trace("HTTP/2 < \(line)") }
    }
}
