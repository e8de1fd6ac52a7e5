import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitPrimitives
import LoadingKitTransport

/// Reads from the connection, and passes each event to its streams.
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
                let bytes = UnsafeRawBufferPointer(rebasing: loop.scratch[..<count])
                if log != nil { trace(log?.describe(received: bytes)) }
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

    /// Reads in a later turn of the loop. Its other connections have their turn first, or the caller is inside another
    /// connection's reading, which uses the loop's memory for the bytes that it reads.
    func readLater() {
        loop.execute { [self] in streamDidBecomeReadable(stream) }
    }

    func take(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        // The bytes that the last event did not count precede these bytes.
        var start = -uncounted
        do throws(HTTP2Error) {
            while let event = try codec.receive(bytes, &position) {
                let size = position - start
                start = position
                handle(event, size, bytes)
                if life.isClosed { return }
            }
        } catch {
            _ = writeOutput()
            return lose(error)
        }
        uncounted = position - start
        if codec.hasControlBytes || !output.frames.isEmpty { flushLater() }
    }

    /// `size` is the number of the event's bytes.
    func handle(_ event: HTTP2Event, _ size: Int, _ bytes: UnsafeRawBufferPointer) {
        switch event {
        case .headers(let number, let head, let endStream):
            if life.noteAnswer() { pool.connectionDidAnswer() } else { pool.streamDidAnswer() }
            guard let carried = find(number) else { return }
            receive(head, size, carried, endStream)
            if endStream { ended(carried) }
            carried.reportHold()
        case .data(let number, let range, let count, let endStream):
            codec.openConnectionWindow(by: count)
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

    func receive(_ head: HTTP2Head, _ size: Int, _ carried: HTTP2ClientStream, _ endStream: Bool) {
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

    /// `count` bytes of the stream's window are used: by the body and its padding.
    func receive(_ bytes: UnsafeRawBufferPointer, _ count: Int, _ carried: HTTP2ClientStream) {
        if count > bytes.count { codec.openWindow(of: carried.number, by: count - bytes.count) }
        carried.receive(bytes)
    }

    /// The server's message is complete.
    func ended(_ carried: HTTP2ClientStream) {
        guard remove(carried.number) else { return }
        if carried.body != nil { stopSending(carried) }
        carried.ended()
        streamDidEnd()
    }

    /// Stops sending after a response that does not wait for the end of the request. The server does not need the rest
    /// (RFC 9113 §8.1).
    func stopSending(_ carried: HTTP2ClientStream) {
        if finishUpgrade(carried) { return }
        carried.body = nil
        codec.sendReset(carried.number, .noError, to: &output.frames)
    }

    func wasReset(_ number: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        guard let carried = find(number) else { return }
        let error = LoadFailure(.networkConnectionLost, "the server reset the stream (\(code))")
        switch code {
        case .refusedStream:
            let maySendAgain = !carried.hasResponse && pool.streamWasRefused()
            end(carried, with: StreamFailure(error: error, processing: maySendAgain ? .notSent : .begun), reset: nil)
        case .http11Required:
            pool.requireHTTP1()
            end(
                carried, with: StreamFailure(error: error, processing: carried.hasResponse ? .begun : .notSent),
                reset: nil)
        case _:
            end(carried, with: StreamFailure(error: error, processing: .begun), reset: nil)
        }
    }

    func end(_ carried: HTTP2ClientStream, with failure: StreamFailure, reset: HTTP2ErrorCode?) {
        remove(carried.number)
        carried.body = nil
        if let reset { codec.sendReset(carried.number, reset, to: &output.frames) }
        flushLater()
        reportSlotsLater()
        carried.failed(failure)
    }
}
