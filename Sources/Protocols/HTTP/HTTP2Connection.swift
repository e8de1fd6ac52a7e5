import Foundation
import LoadingKitCore
import LoadingKitHPACK
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitPrimitives
import LoadingKitTransport

/// One HTTP/2 connection: moves bytes between its socket and the state machine, for many exchanges at a time.
final class HTTP2Connection: ByteStreamHandler, @unchecked Sendable {  // confined to `loop`
    /// Bytes that may wait to be written before bodies wait.
    private static let outputHighWater = 256 * 1024

    /// Reads in a row before the loop's other connections have their turn.
    private static let readsInARow = 16

    private enum State {
        case open
        /// No new streams; it ends with those that it has.
        case leaving
        case closed
    }

    let stream: ByteStream
    private let pool: OriginPool
    let loop: EventLoop
    var codec: HTTP2ConnectionStateMachine
    private var state = State.open
    private var streams = StreamTable<HTTP2ClientStream>()
    /// Streams with bodies to send, in turn.
    private var sending: [HTTP2ClientStream] = []
    private var written = 0
    private var willFlush = false
    private var windows: HTTP2Windows
    private var watch: HTTP2Watch
    private var watchTimer: LoopTimer?
    private var isFirst = true
    private var log: HTTP2FrameLog?
    private let firstMetrics: TransactionTimings
    private let reusedMetrics: TransactionTimings

    /// When, if it has no streams, the connection is to be closed.
    var idleUntil = MonotonicTime.distantFuture

    init(_ stream: ByteStream, _ pool: OriginPool) {
        self.stream = stream
        self.pool = pool
        loop = stream.loop
        var settings = HTTP2Settings()
        settings.initialWindowSize = HTTP2Windows.initialStream
        settings.maximumConcurrentStreams = 0
        settings.maximumHeaderListSize = HTTP2Limits().fields.listBytes
        settings.ignoresOldPriorities = true
        codec = HTTP2ConnectionStateMachine(
            .client, settings: settings, connectionWindow: HTTP2Windows.initialConnection)
        windows = HTTP2Windows(loop.now)
        watch = HTTP2Watch(loop.now)
        firstMetrics = stream.info.http2Metrics(stream.info.metrics)
        reusedMetrics = stream.info.http2Metrics(stream.info.reusedMetrics)
        log = HTTP2FrameLog(pool.logger)
        stream.handler = self
        flushLater()
    }

    // MARK: From the pool

    /// How many exchanges more it can carry now.
    var room: Int {
        guard case .open = state, !watch.isOld(loop.now) else { return 0 }
        return codec.availableStreams
    }

    var isIdle: Bool { streams.count == 0 }

    func carry(_ exchange: HTTPExchange) {
        idleUntil = .distantFuture
        exchange.use(isFirst ? firstMetrics : reusedMetrics)
        isFirst = false
        do throws(HTTP2Error) {
            let before = codec.output.count
            let body = HTTP2BodySender(exchange.body, awaitsContinue: exchange.expectsContinue)
            let number = try codec.sendRequest(
                exchange.pseudoFields, exchange.http2Fields, isHead: exchange.method == "HEAD", endStream: body == nil)
            let carried = HTTP2ClientStream(number, exchange, self)
            streams.insert(carried, for: number)
            exchange.assigned(to: carried)
            exchange.didSendHead(codec.output.count - before)
            begin(body, carried, exchange)
        } catch {
            exchange.failed(StreamFailure(error: error, processing: .begun))
            pool.hasRoom(self)
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
        let index = sending.firstIndex { ($0.exchange?.priority ?? 0) < exchange.priority }
        sending.insert(carried, at: index ?? sending.endIndex)
        guard body.awaitsContinue else { return }
        let number = carried.number
        _ = loop.schedule(at: loop.now.advanced(bySeconds: RequestBody.continueTimeout)) { [weak self] in
            self?.continueSending(number)
        }
    }

    private func continueSending(_ number: UInt32) {
        streams[number]?.body?.awaitsContinue = false
        flushLater()
    }

    /// Takes no more exchanges, and ends with those that it has.
    func retire() {
        if case .open = state { state = .leaving }
    }

    func close() {
        if case .closed = state { return }
        state = .closed
        watchTimer?.cancel()
        codec.sendGoAway(.noError)
        _ = writeOutput()
        stream.close()
    }

    // MARK: From streams

    func abandon(_ carried: HTTP2ClientStream) {
        streams.remove(carried.number)
        carried.body = nil
        codec.reset(carried.number, .cancel)
        flushLater()
        // Not from inside the exchange's own call.
        loop.executeLater { [weak self] in self?.streamIsGone() }
    }

    func didConsume(_ count: Int, of number: UInt32) { codec.didConsume(count, of: number) }

    private func streamIsGone() {
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
        loop.executeLater { [weak self] in
            guard let self else { return }
            willFlush = false
            flush()
        }
    }

    func streamIsWritable(_ stream: ByteStream) { flush() }

    private func flush() {
        if case .closed = state { return }
        var isFull = false
        repeat {
            pump()
            isFull = codec.output.count >= Self.outputHighWater
            guard writeOutput() else { return }
        } while isFull
    }

    /// Puts frames of bodies, one of each stream in turn, until the windows or the buffer are full.
    private func pump() {
        var isMoving = true
        while isMoving, !sending.isEmpty, codec.output.count < Self.outputHighWater {
            isMoving = false
            for carried in sending where putFrame(carried) { isMoving = true }
            sending.removeAll { $0.body == nil }
        }
    }

    private func putFrame(_ carried: HTTP2ClientStream) -> Bool {
        guard var body = carried.body, let exchange = carried.exchange else {
            carried.body = nil
            return false
        }
        do throws(HTTP2Error) {
            let (progress, count) = try body.proceed(carried.number, &codec)
            carried.body = body
            if count > 0 { exchange.didSendBody(count) }
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

    private func readPiece(_ reader: BodyStreamReader, _ carried: HTTP2ClientStream) {
        let number = carried.number
        reader.read { [loop] result in
            loop.execute { [weak self] in self?.supply(result, number) }
        }
    }

    private func supply(_ result: Result<Data?, any Error>, _ number: UInt32) {
        guard let carried = streams[number], carried.body != nil else { return }
        do {
            if try carried.body?.supply(result.get(), number, &codec) == true { finishBody(carried) }
            flushLater()
        } catch {
            end(carried, with: StreamFailure(error: error, processing: .begun), reset: .cancel)
        }
    }

    /// False when the socket is full, or broken.
    private func writeOutput() -> Bool {
        while written < codec.output.count {
            let result = codec.output.withUnsafeBytes {
                stream.write(UnsafeRawBufferPointer(rebasing: $0[written...]))
            }
            switch result {
            case .bytes(let count):
                if log != nil { noteSent(count) }
                written += count
            case .wouldBlock: return false
            // What the server has said of it, if anything, can be read.
            case .failed: return false
            }
        }
        codec.output.removeAll(keepingCapacity: true)
        written = 0
        return true
    }

    private func noteSent(_ count: Int) {
        codec.output.withUnsafeBytes { log?.send(UnsafeRawBufferPointer(rebasing: $0[written..<written + count])) }
    }

    // MARK: Receiving

    func streamIsReadable(_ stream: ByteStream) {
        for _ in 0..<Self.readsInARow {
            if case .closed = state { return }
            switch stream.read(into: loop.scratch) {
            case .bytes(let count):
                watch.received(loop.now)
                let bytes = UnsafeRawBufferPointer(rebasing: loop.scratch[..<count])
                log?.receive(bytes)
                take(bytes)
            case .wouldBlock:
                return
            case .end:
                return lose(LoadFailure(.networkConnectionLost, "the server closed the connection"))
            case .failed(let error):
                return lose(error)
            }
        }
        loop.execute { [weak self] in
            guard let self else { return }
            streamIsReadable(self.stream)
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        do throws(HTTP2Error) {
            while let event = try codec.receive(bytes, &position) {
                handle(event, bytes)
                if case .closed = state { return }
            }
        } catch {
            _ = writeOutput()
            return lose(error)
        }
        if !codec.output.isEmpty { flushLater() }
    }

    private func handle(_ event: HTTP2Event, _ bytes: UnsafeRawBufferPointer) {
        switch event {
        case .head(let number, .response(let status, let fields), let endStream):
            guard let carried = streams[number] else { return }
            if status == 100 { continueSending(number) }
            carried.receive(ResponseHead(version: .http2, status: status, fields: fields), endStream: endStream)
            if endStream { ended(number) }
        case .head(_, .request, _): break
        case .data(let number, let range, let endStream):
            receiveData(number, UnsafeRawBufferPointer(rebasing: bytes[range]), endStream)
        case .trailers(let number, let fields):
            streams[number]?.receive(trailers: fields)
            ended(number)
        case .reset(let number, let code):
            wasReset(number, code)
        case .failed(let number, let error):
            guard let carried = streams[number] else { return }
            end(carried, with: StreamFailure(error: error, processing: .begun), reset: nil)
        case .goAway(let last, let code, let text):
            leave(after: last, code, text)
        case .settingsChanged:
            pool.hasRoom(self)
            if !sending.isEmpty { flushLater() }
        case .settingsAcknowledged:
            watch.settingsAcknowledged()
        case .pingAcknowledged(let value):
            pingAnswered(value)
        case .windowOpened:
            if !sending.isEmpty { flushLater() }
        }
    }

    private func receiveData(_ number: UInt32, _ bytes: UnsafeRawBufferPointer, _ endStream: Bool) {
        if let carried = streams[number] {
            carried.receive(bytes)
        } else {
            codec.didConsume(bytes.count, of: number)
        }
        if windows.received(bytes.count, loop.now) { codec.sendPing(HTTP2Watch.windowPing) }
        if endStream { ended(number) }
    }

    /// The server's message is complete.
    private func ended(_ number: UInt32) {
        guard let carried = streams.remove(number) else { return }
        // A response that does not wait for the request's end: the rest is not wanted (RFC 9113 §8.1).
        if carried.body != nil {
            carried.body = nil
            codec.reset(number, .noError)
        }
        carried.ended()
        streamIsGone()
    }

    private func wasReset(_ number: UInt32, _ code: HTTP2ErrorCode) {
        guard let carried = streams[number] else { return }
        let error = LoadFailure(.networkConnectionLost, "the server reset the stream (\(code))")
        switch code {
        case .refusedStream:
            end(carried, with: StreamFailure(error: error, processing: .notSent), reset: nil)
        case .http11Required:
            pool.requireHTTP1()
            end(carried, with: StreamFailure(error: error, processing: .notSent), reset: nil)
        case _:
            end(carried, with: StreamFailure(error: error, processing: .begun), reset: nil)
        }
    }

    private func end(_ carried: HTTP2ClientStream, with failure: StreamFailure, reset: HTTP2ErrorCode?) {
        streams.remove(carried.number)
        carried.body = nil
        if let reset { codec.reset(carried.number, reset) }
        carried.failed(failure)
        flushLater()
        loop.executeLater { [weak self] in self?.streamIsGone() }
    }

    // MARK: The end

    /// The server takes no more streams, and has not looked at those after the last.
    private func leave(after last: UInt32, _ code: HTTP2ErrorCode, _ text: String) {
        if case .open = state { state = .leaving }
        pool.isLeaving(self)
        let words = "the server is closing the connection (\(code)\(text.isEmpty ? "" : ": \(text)"))"
        for number in streams.allIdentifiers where number > last {
            guard let carried = streams[number] else { continue }
            let error = LoadFailure(.networkConnectionLost, words)
            end(carried, with: StreamFailure(error: error, processing: .notSent), reset: nil)
        }
        streamIsGone()
    }

    /// The connection is of no use any more.
    private func lose(_ error: any Error) {
        if case .closed = state { return }
        state = .closed
        watchTimer?.cancel()
        stream.close()
        pool.isLeaving(self)
        let lost = streams
        streams = StreamTable()
        for number in lost.allIdentifiers {
            guard let carried = lost[number] else { continue }
            carried.body = nil
            // It may have died before the request arrived; a new one has at least been asked (RFC 9110 §9.2.2).
            let isUnknown = !carried.hasResponse && number > 1
            carried.failed(StreamFailure(error: error, processing: isUnknown ? .unknown : .begun))
        }
        pool.isGone(self)
    }

    // MARK: Watching

    private func ask() {
        codec.sendPing(HTTP2Watch.livenessPing)
        watch.asked(loop.now)
    }

    private func pingAnswered(_ value: UInt64) {
        guard value == HTTP2Watch.windowPing, windows.answered(loop.now) else { return }
        codec.setStreamWindow(windows.stream)
        codec.setConnectionWindow(windows.connection)
    }

    private func scheduleWatch() {
        guard watchTimer == nil else { return }
        watchTimer = loop.schedule(at: watch.nextLook(loop.now)) { [weak self] in self?.look() }
    }

    private func look() {
        watchTimer = nil
        guard !isIdle || watch.awaitsAnswer else { return }
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
