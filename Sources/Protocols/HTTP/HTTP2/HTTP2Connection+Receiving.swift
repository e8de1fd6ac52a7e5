import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitTransport

extension HTTP2Connection {
    func streamDidBecomeReadable(_ stream: ByteStream) {
        for _ in 0..<Self.readsInARow {
            switch life.reading {
            case .flowing, .readingOn: break
            case .resting, nil: return
            }
            switch stream.read(into: loop.scratch) {
            case .bytes(let count):
                ping.didReceive(loop.now)
                arrivalCount &+= 1
                let bytes = UnsafeRawBufferPointer(rebasing: loop.scratch[..<count])
                if log != nil { trace(log?.describe(received: bytes)) }
                take(bytes)
                if isHeldBack { rest() }
            case .wouldBlock:
                if let writeError { connectionLost(writeError) }
                return
            case .end:
                return connectionLost(LoadFailure(.networkConnectionLost, "the server closed the connection"))
            case .failed(let error):
                return connectionLost(error)
            }
        }
        stream.notifyInNextTurn()
    }

    /// Reads later: the caller uses `loop.scratch`.
    func readLater() { loop.execute { [self] in streamDidBecomeReadable(stream) } }

    func take(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        do throws(HTTP2Error) {
            while let event = try codec.receive(bytes, &position) {
                handle(event, codec.eventBytes, bytes)
                if life.isClosed { return }
            }
        } catch {
            _ = writeOutput()
            return connectionLost(error)
        }
        // A part of a response's head may have arrived. (To ask for the open head copies the codec.)
        if codec.pendingBytes > 0, let number = codec.openHead { find(number)?.exchange?.headDidBegin() }
        if codec.hasControlBytes || !output.frames.isEmpty { flushLater() }
    }

    /// - Parameter size: the number of bytes of the event's frame.
    func handle(_ event: HTTP2Event, _ size: Int, _ bytes: UnsafeRawBufferPointer) {
        switch event {
        case .headers(let number, let head, let endStream):
            ping.didReceiveHeadersOrData()
            if life.noteAnswer() { pool.connectionDidAnswer() } else { pool.streamDidAnswer() }
            guard let stream = find(number) else { return }
            receive(head, size, stream, endStream)
            if endStream { ended(stream) }
            stream.reportHold()
        case .data(let number, let range, let count, let endStream):
            ping.didReceiveHeadersOrData()
            codec.openConnectionWindow(by: count)
            guard let stream = find(number) else { return }
            stream.exchange?.didReceiveFraming(size - range.count)
            // The dropped body of a response to HEAD may have no end: it is counted, and is not a sign of life.
            if count == 0, !endStream, size > HTTP2ConnectionStateMachine.dataHeaderBytes { return }
            receive(UnsafeRawBufferPointer(rebasing: bytes[range]), count, stream)
            if endStream { ended(stream) }
        case .streamReset(let number, let code):
            wasReset(number, code)
        case .streamFailed(let number, let error):
            guard let stream = find(number) else { return }
            end(stream, with: StreamFailure(error: error, processing: .begun), reset: nil)
        case .goAway(_, let code, let debugData, let unprocessed):
            leave(unprocessed, code, String(decoding: debugData, as: UTF8.self))
        case .ready, .settingsChanged:
            life.noteSettings()
            if pool.isForUpgrade, !takesUpgrades { pool.streamsCannotUpgrade() }
            pool.streamSlotsDidChange(self)
            if !output.bodies.isEmpty { flushLater() }
        case .settingsAcknowledged:
            if let time = ping.settingsWereAcknowledged(loop.now) { bandwidth.didMeasureRoundTrip(time) }
        case .pingAcknowledged(let value):
            pingWasAnswered(value)
        case .windowOpened:
            flushLater()
        case .streamClosed: break
        }
    }

    func receive(_ head: HTTP2Head, _ size: Int, _ stream: HTTP2ClientStream, _ endStream: Bool) {
        switch head {
        case .interim(let status, let fields):
            stream.exchange?.didReceiveHead(size)
            if status == 100 { continueSending(stream.number) }
            stream.receive(interim: ResponseHead(version: .http2, status: status, fields: fields))
        case .response(let status, let fields):
            stream.exchange?.didReceiveHead(size)
            stream.receive(ResponseHead(version: .http2, status: status, fields: fields), hasBody: !endStream)
        case .trailers(let fields):
            stream.exchange?.didReceiveFraming(size)
            stream.receive(trailers: fields)
        case .request: break
        }
    }

    /// - Parameter count: the bytes of the stream's window that are used, by the body and its padding.
    func receive(_ bytes: UnsafeRawBufferPointer, _ count: Int, _ stream: HTTP2ClientStream) {
        if count > bytes.count { codec.openWindow(of: stream.number, by: count - bytes.count) }
        stream.receive(bytes)
    }

    func ended(_ stream: HTTP2ClientStream) {
        guard remove(stream.number) else { return }
        if stream.body != nil { stopSending(stream) }
        stream.ended()
        streamDidEnd()
    }

    /// The server has responded before the end of the request, and does not need the rest (RFC 9113 §8.1).
    func stopSending(_ stream: HTTP2ClientStream) {
        if finishUpgrade(stream) { return }
        stream.body = nil
        codec.sendReset(stream.number, .noError, to: &output.frames)
    }

    func wasReset(_ number: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        guard let stream = find(number) else { return }
        let error = LoadFailure(.networkConnectionLost, "the server reset the stream (\(code))")
        var maySendAgain = false
        switch code {
        case .refusedStream: maySendAgain = !stream.hasResponse && pool.streamWasRefused()
        case .http11Required:
            pool.requireHTTP1()
            maySendAgain = !stream.hasResponse
        case _: break
        }
        end(stream, with: StreamFailure(error: error, processing: maySendAgain ? .notSent : .begun), reset: nil)
    }

    func end(_ stream: HTTP2ClientStream, with failure: StreamFailure, reset: HTTP2ErrorCode?) {
        remove(stream.number)
        stream.body = nil
        if let reset { codec.sendReset(stream.number, reset, to: &output.frames) }
        flushLater()
        reportSlotsLater()
        stream.failed(failure)
    }
}

/// The flow-control windows of the streams: they follow the bytes that the readers take, within ``WindowBudget``.
extension HTTP2Connection {
    /// - Parameter isFluent: whether the reader took the bytes on arrival and has room for more.
    func readerDidTake(_ count: Int, of stream: HTTP2ClientStream, isFluent: Bool) {
        if isFluent { noteFluentReading(count, stream) }
        codec.openWindow(of: stream.number, by: count)
    }

    private func noteFluentReading(_ count: Int, _ stream: HTTP2ClientStream) {
        if stream.window < BandwidthEstimator.fluentStream {
            guard let size = stream.noteTaken(count, loop.now) else { return }
            _ = enlargeWindow(of: stream, to: size)
        } else if bandwidth.readerDidTake(
            count, of: stream.number, window: stream.window, loop.now,
            mayNeedMore: codec.mayNeedWindow(on: stream.number))
        {
            codec.sendPing(KeepAlivePing.windowPing, to: &output.frames)
        }
    }

    /// Enlarges a window as far as the budget allows. Returns false if it has not grown.
    func enlargeWindow(of stream: HTTP2ClientStream, to size: Int) -> Bool {
        guard codec.mayNeedWindow(on: stream.number) else { return false }
        let granted = windows.take(min(size, BandwidthEstimator.maximumStream) - stream.window)
        guard granted > 0 else { return false }
        stream.windowDidGrow(by: granted)
        codec.setReceiveWindow(stream.window, of: stream.number)
        return true
    }
}
