import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitPrimitives
import LoadingKitTransport

/// One HTTP/2 connection: moves bytes between its socket and the state machine, for many exchanges at a time.
final class HTTP2Connection: ByteStreamHandler, @unchecked Sendable {  // confined to `loop`
    /// Bytes that may wait to be written before bodies wait.
    private static let outputHighWater = 256 * 1024

    /// When a stream that carried another protocol has said its last, the server may take so long to do so, in seconds.
    private static let lingerTime = 2.0

    /// Reads in a row before the loop's other connections have their turn.
    private static let readsInARow = 16

    private enum State {
        case open
        /// No new streams; it ends with those that it has.
        case leaving
        case closed
    }

    private enum Reading {
        case active
        /// All streams are held back: what comes for them is left to TCP for a while.
        case resting(LoopTimer)
        /// They still are, but the server may be waiting for an answer to a PING: bodies are kept, as far as windows go.
        case readingOn
    }

    /// Reading rests so long at most, in nanoseconds.
    private static let longestRest: UInt64 = 1_000_000_000

    let stream: ByteStream
    private let pool: OriginPool
    let loop: EventLoop
    // Not looked at for overlapping accesses, which each cost as much as what is done: these are values that call nothing
    // back, and only the loop's thread uses them, one call after the other.
    @exclusivity(unchecked) private var codec: HTTP2ConnectionStateMachine
    @exclusivity(unchecked) private var streams = StreamTable<HTTP2ClientStream?>(vacant: nil)
    @exclusivity(unchecked) private var windows: HTTP2Windows
    /// What is to be written, of which so many bytes are.
    @exclusivity(unchecked) private var output: [UInt8] = []
    private var written = 0
    private var bodies = HTTP2BodyQueue()
    private var state = State.open
    private var willFlush = false
    private var watch: HTTP2Watch
    /// Holds this object, as do other timers, until it fires or the connection is closed, which its pool sees to.
    private var watchTimer: LoopTimer?
    private var reading = Reading.active
    private var isFirst = true
    private var hasSettings = false
    private var log: HTTP2FrameLog?
    private let metrics: ConnectionMetrics

    /// Bytes received since the last event.
    private var uncounted = 0

    /// Among the process's connections; nil as long as this one has not been idle.
    private var membership: IdleConnections.Membership?

    /// When, if it has no streams, the connection is to be closed.
    /// Whether the server has answered a request on it.
    private var hasAnswered = false
    var idleUntil = MonotonicTime.distantFuture

    init(_ stream: ByteStream, _ pool: OriginPool) {
        self.stream = stream
        self.pool = pool
        loop = stream.loop
        codec = HTTP2ConnectionStateMachine(
            role: .client, settings: .client, connectionWindow: HTTP2Windows.initialConnection)
        windows = HTTP2Windows(loop.now)
        watch = HTTP2Watch(loop.now)
        metrics = ConnectionMetrics(stream.info, protocolName: "h2", isProxied: pool.isProxied)
        log = HTTP2FrameLog(pool.logger)
        stream.handler = self
        codec.sendPreface(to: &output)
        flushLater()
    }

    // MARK: From the pool

    /// How many exchanges more it can carry now.
    var room: Int {
        guard case .open = state, !watch.isOld(loop.now), !pool.isForUpgrade || takesUpgrades else { return 0 }
        return codec.availableStreams
    }

    /// Whether the server has yet to say if it can carry what the pool is for.
    var awaitsSettings: Bool { pool.isForUpgrade && !hasSettings }

    /// Whether the server lets streams switch to other protocols (RFC 8441 §3).
    var takesUpgrades: Bool { codec.peerSettings.enableConnectProtocol }

    var isIdle: Bool { streams.isEmpty }

    /// It is one of the process's idle connections, of which some are closed when they are many.
    func stayIdle() {
        let membership = membership ?? IdleConnections.Membership(on: loop) { [self] in endIfChosen() }
        self.membership = membership
        membership.connectionDidBecomeIdle()
    }

    private func endIfChosen() {
        if isIdle, idleUntil != .distantFuture, membership?.isChosen == true { pool.end(self) }
    }

    func carry(_ exchange: HTTPExchange) {
        if idleUntil != .distantFuture { membership?.connectionDidBecomeActive() }
        idleUntil = .distantFuture
        exchange.use(stream.info, metrics, isReused: !isFirst)
        isFirst = false
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
            // Not at once: the next may fail too, and the one after it.
            loop.executeLater { self.streamIsGone() }
        }
        if watch.asksBeforeUse(loop.now) { ask() }
        scheduleWatch()
        flushLater()
    }

    private func begin(_ body: HTTP2BodySender?, _ carried: HTTP2ClientStream, _ exchange: HTTPExchange) {
        guard let body else {
            exchange.timings.requestEnd = loop.now
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

    private func continueSending(_ number: HTTP2StreamID) {
        find(number)?.body?.awaitsContinue = false
        flushLater()
    }

    /// Takes no more exchanges, and ends with those that it has.
    func retire() {
        if case .open = state { state = .leaving }
        if isIdle { close() }
    }

    /// Whether it takes new streams, though it may have no room at the moment.
    var takesStreams: Bool {
        if case .open = state { !watch.isOld(loop.now) } else { false }
    }

    func close() {
        if case .closed = state { return }
        state = .closed
        membership = nil
        stopTimers()
        codec.sendGoAway(.noError, to: &output)
        _ = writeOutput()
        stream.close()
    }

    // MARK: Streams

    private func find(_ number: HTTP2StreamID) -> HTTP2ClientStream? { streams.find(number).flatMap { streams[$0] } }

    /// Takes a stream out; false when it was before.
    @discardableResult
    private func remove(_ number: HTTP2StreamID) -> Bool {
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
        // Not from inside the exchange's own call.
        loop.executeLater { self.streamIsGone() }
    }

    /// Sends the last of another protocol's bytes, and the message's end; false when there is nothing of the kind, or the
    /// windows do not allow it.
    private func finishUpgrade(_ carried: HTTP2ClientStream) -> Bool {
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
    private func resetLater(_ carried: HTTP2ClientStream) {
        _ = loop.schedule(at: loop.now.advanced(bySeconds: Self.lingerTime)) { [weak self] in
            guard let self, find(carried.number) === carried else { return }
            abandon(carried)
        }
    }

    func didConsume(_ count: Int, of number: HTTP2StreamID) { codec.openWindow(of: number, by: count) }

    /// A stream is no longer held back, or there is another.
    func readAgain() {
        switch reading {
        case .active: return
        case .readingOn: reading = .active
        case .resting(let timer):
            timer.cancel()
            reading = .active
            watch.received(loop.now)
            readLater()
        }
    }

    private func rest() {
        let time = loop.now.advanced(byNanoseconds: Self.longestRest)
        reading = .resting(
            loop.schedule(at: time) { [self] in
                readAgain()
                reading = .readingOn
            })
    }

    /// Whether nothing is wanted of the server at the moment.
    private var isHeldBack: Bool {
        guard case .active = reading, bodies.isEmpty, !streams.isEmpty else { return false }
        return streams.allSatisfy { $0?.isHolding == true }
    }

    private func streamIsGone() {
        readAgain()
        switch state {
        case .open: pool.hasRoom(self)
        case .leaving where isIdle:
            close()
            pool.isGone(self)
        case .leaving, .closed: break
        }
    }

    // MARK: Sending

    /// Writes what there is when the loop has done what it is doing: a burst of requests goes out in one write.
    func flushLater() {
        guard !willFlush else { return }
        willFlush = true
        loop.executeLater { [self] in
            willFlush = false
            flush()
        }
    }

    func streamIsWritable(_ stream: ByteStream) { flush() }

    private func flush() {
        if case .closed = state { return }
        var isFull = false
        repeat {
            bodies.run(putFrame, until: { output.count - written >= Self.outputHighWater })
            isFull = output.count - written >= Self.outputHighWater
            guard writeOutput() else { return }
        } while isFull
    }

    private func putFrame(_ carried: HTTP2ClientStream) -> Bool {
        guard var body = carried.body, let exchange = carried.exchange else {
            carried.body = nil
            return false
        }
        do throws(HTTP2Error) {
            body.takeOutput()
            let (progress, count) = try body.proceed(carried.number, &codec, to: &output)
            carried.body = body
            if count > 0 { exchange.didSendBody(count, framing: HTTP2ConnectionStateMachine.dataHeaderBytes) }
            switch progress {
            case .done: finishBody(carried)
            case .needsPiece(let reader): readPiece(reader, carried)
            case .blocked, .waiting: break
            }
            return count > 0
        } catch {
            end(carried, with: StreamFailure(error: error, processing: .begun), reset: .cancel)
            return false
        }
    }

    private func finishBody(_ carried: HTTP2ClientStream) {
        carried.body = nil
        carried.exchange?.timings.requestEnd = loop.now
    }

    private func readPiece(_ reader: any BodySource, _ carried: HTTP2ClientStream) {
        let number = carried.number
        reader.read { [loop] result in
            loop.perform { [self] in supply(result, number) }
        }
    }

    private func supply(_ result: Result<Data?, any Error>, _ number: HTTP2StreamID) {
        guard let carried = find(number), carried.body != nil else { return }
        do {
            if try carried.body?.supply(result.get(), number, &codec, to: &output) == true {
                carried.exchange?.didSendBody(0, framing: HTTP2ConnectionStateMachine.dataHeaderBytes)
                finishBody(carried)
            }
            flushLater()
        } catch {
            end(carried, with: StreamFailure(error: error, processing: .begun), reset: .cancel)
        }
    }

    /// False when the socket is full, or broken.
    private func writeOutput() -> Bool {
        while hasOutput() {
            let result = output.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
            switch result {
            case .bytes(let count):
                if log != nil { noteSent(count) }
                written += count
                watch.sent(loop.now)
            case .wouldBlock: return false
            // What the server has said of it, if anything, can be read.
            case .failed: return false
            }
        }
        return true
    }

    /// Answers wait inside the codec until the server has read those before: there they are bounded.
    private func hasOutput() -> Bool {
        if written == output.count {
            output.removeAll(keepingCapacity: true)
            written = 0
            codec.drainControlBytes(into: &output)
        }
        return !output.isEmpty
    }

    private func noteSent(_ count: Int) {
        let output = output  // whatever a log handler calls
        output.withUnsafeBytes { log?.send(UnsafeRawBufferPointer(rebasing: $0[written..<written + count])) }
    }

    // MARK: Receiving

    func streamIsReadable(_ stream: ByteStream) {
        for _ in 0..<Self.readsInARow {
            if case .closed = state { return }
            if case .resting = reading { return }
            switch stream.read(into: loop.scratch) {
            case .bytes(let count):
                watch.received(loop.now)
                let bytes = UnsafeRawBufferPointer(rebasing: loop.scratch[..<count])
                log?.receive(bytes)
                take(bytes)
                if isHeldBack { rest() }
            case .wouldBlock:
                return
            case .end:
                return lose(LoadFailure(.networkConnectionLost, "the server closed the connection"))
            case .failed(let error):
                return lose(error)
            }
        }
        readLater()
    }

    private func readLater() {
        loop.execute { [self] in streamIsReadable(stream) }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        // What the last event did not count came before these bytes.
        var start = -uncounted
        do throws(HTTP2Error) {
            while let event = try codec.receive(bytes, &position) {
                let size = position - start
                start = position
                handle(event, size, bytes)
                if case .closed = state { return }
            }
        } catch {
            _ = writeOutput()
            return lose(error)
        }
        uncounted = position - start
        if codec.hasControlBytes || !output.isEmpty { flushLater() }
    }

    /// `size` bytes were the event's.
    private func handle(_ event: HTTP2Event, _ size: Int, _ bytes: UnsafeRawBufferPointer) {
        switch event {
        case .headers(let number, let head, let endStream):
            if !hasAnswered { noteAnswer() }
            guard let carried = find(number) else { return }
            receive(head, size, carried, endStream)
            if endStream { ended(carried) }
        case .data(let number, let range, let count, let endStream):
            codec.openConnectionWindow(by: count)
            if windows.received(range.count, loop.now) { codec.sendPing(HTTP2Watch.windowPing, to: &output) }
            guard let carried = find(number) else { return }
            carried.exchange?.didReceiveFraming(size - range.count)
            receive(UnsafeRawBufferPointer(rebasing: bytes[range]), count, carried)
            if endStream { ended(carried) }
        case .streamReset(let number, let code):
            wasReset(number, code)
        case .streamFailed(let number, let error):
            guard let carried = find(number) else { return }
            end(carried, with: StreamFailure(error: error, processing: .begun), reset: nil)
        case .goAway(_, let code, let debugData, let unprocessed):
            leave(unprocessed, code, String(decoding: debugData, as: UTF8.self))
        case .ready, .settingsChanged:
            hasSettings = true
            if pool.isForUpgrade, !takesUpgrades { pool.requireHTTP1ForUpgrades() }
            pool.hasRoom(self)
            if !bodies.isEmpty { flushLater() }
        case .settingsAcknowledged:
            if let time = watch.settingsAcknowledged(loop.now) { windows.roundTrip(time) }
        case .pingAcknowledged(let value):
            pingAnswered(value)
        case .windowOpened:
            flushLater()
        case .streamClosed: break
        }
    }

    private func noteAnswer() {
        hasAnswered = true
        pool.connectionHasAnswered()
    }

    private func receive(_ head: HTTP2Head, _ size: Int, _ carried: HTTP2ClientStream, _ endStream: Bool) {
        switch head {
        case .interim(let status, let fields):
            carried.exchange?.didReceiveHead(size)
            if status == 100 { continueSending(carried.number) }
            carried.receive(interim: ResponseHead(version: .http2, status: status, fields: fields))
        case .response(let status, let fields):
            carried.exchange?.didReceiveHead(size)
            carried.receive(
                ResponseHead(version: .http2, status: status, fields: fields), hasBody: !endStream)
        case .trailers(let fields):
            carried.exchange?.didReceiveFraming(size)
            carried.receive(trailers: fields)
        case .request: break
        }
    }

    /// `count` bytes of the stream's window are taken: those of the body, and its padding's.
    private func receive(_ bytes: UnsafeRawBufferPointer, _ count: Int, _ carried: HTTP2ClientStream) {
        if count > bytes.count { didConsume(count - bytes.count, of: carried.number) }
        if carried.receiveWindow < windows.stream { enlargeWindow(of: carried) }
        carried.receive(bytes)
    }

    /// The server's message is complete.
    private func ended(_ carried: HTTP2ClientStream) {
        guard remove(carried.number) else { return }
        if carried.body != nil { stopSending(carried) }
        carried.ended()
        streamIsGone()
    }

    /// After a response that does not wait for the request's end: the rest is not wanted (RFC 9113 §8.1).
    private func stopSending(_ carried: HTTP2ClientStream) {
        if finishUpgrade(carried) { return }
        carried.body = nil
        codec.sendReset(carried.number, .noError, to: &output)
    }

    private func wasReset(_ number: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        guard let carried = find(number) else { return }
        let error = LoadFailure(.networkConnectionLost, "the server reset the stream (\(code))")
        switch code {
        case .refusedStream:
            end(
                carried, with: StreamFailure(error: error, processing: carried.hasResponse ? .begun : .notSent),
                reset: nil)
        case .http11Required:
            pool.requireHTTP1()
            end(
                carried, with: StreamFailure(error: error, processing: carried.hasResponse ? .begun : .notSent),
                reset: nil)
        case _:
            end(carried, with: StreamFailure(error: error, processing: .begun), reset: nil)
        }
    }

    private func end(_ carried: HTTP2ClientStream, with failure: StreamFailure, reset: HTTP2ErrorCode?) {
        remove(carried.number)
        carried.body = nil
        if let reset { codec.sendReset(carried.number, reset, to: &output) }
        carried.failed(failure)
        flushLater()
        loop.executeLater { self.streamIsGone() }
    }

    // MARK: The end

    /// The server takes no more streams, and has not looked at some.
    private func leave(_ unprocessed: [HTTP2StreamID], _ code: HTTP2ErrorCode, _ text: String) {
        if case .open = state { state = .leaving }
        let isRefusal = !hasAnswered && !unprocessed.isEmpty
        let maySendAgain = !isRefusal || pool.connectionWasRefused()
        pool.isLeaving(self)
        let words = "the server is closing the connection (\(code)\(text.isEmpty ? "" : ": \(text)"))"
        for carried in inOrder(unprocessed.compactMap(find)) where find(carried.number) === carried {
            let error = LoadFailure(.networkConnectionLost, words)
            let isUnseen = !carried.hasResponse && maySendAgain
            end(carried, with: StreamFailure(error: error, processing: isUnseen ? .notSent : .begun), reset: nil)
        }
        streamIsGone()
    }

    /// Those whose exchanges were made first come first: they are sent again in that order.
    private func inOrder(_ streams: [HTTP2ClientStream]) -> [HTTP2ClientStream] {
        streams.sorted { ($0.exchange?.number ?? 0) < ($1.exchange?.number ?? 0) }
    }

    /// The connection is of no use any more.
    private func lose(_ error: any Error) {
        if case .closed = state { return }
        state = .closed
        membership = nil
        stopTimers()
        stream.close()
        pool.isLeaving(self)
        let lost = inOrder(streams.ids.compactMap(find))
        streams = StreamTable(vacant: nil)
        for carried in lost {
            carried.body = nil
            // It may have died before the request arrived (RFC 9110 §9.2.2). What ends the connection of the only request
            // that it ever carried may well be that request.
            let isUnknown = !carried.hasResponse && (carried.number > 1 || lost.count > 1)
            carried.failed(StreamFailure(error: error, processing: isUnknown ? .unknown : .begun))
        }
        pool.isGone(self)
    }

    private func stopTimers() {
        watchTimer?.cancel()
        if case .resting(let timer) = reading { timer.cancel() }
    }

    // MARK: Watching

    private func ask() {
        codec.sendPing(HTTP2Watch.livenessPing, to: &output)
        watch.asked(loop.now)
    }

    private func pingAnswered(_ value: UInt64) {
        guard value == HTTP2Watch.windowPing, windows.answered(loop.now) else { return }
        codec.setConnectionReceiveWindow(windows.connection)
    }

    /// A stream whose body comes is to have what the way holds.
    private func enlargeWindow(of carried: HTTP2ClientStream) {
        carried.receiveWindow = windows.stream
        codec.setReceiveWindow(windows.stream, of: carried.number)
    }

    private func scheduleWatch() {
        guard watchTimer == nil else { return }
        watchTimer = loop.schedule(at: watch.nextLook(loop.now)) { [self] in look() }
    }

    private func look() {
        watchTimer = nil
        guard !isIdle || watch.awaitsAnswer else { return }
        if case .resting = reading { watch.received(loop.now) }
        codec.timePassed(seconds: Int(HTTP2Watch.quietTime / 1_000_000_000))
        switch watch.look(loop.now) {
        case .fine: break
        case .ask:
            ask()
            flushLater()
        case .dead(let words):
            return lose(LoadFailure(.networkConnectionLost, words))
        }
        scheduleWatch()
    }
}
