import Foundation
import LoadingKitCore
import LoadingKitHTTP2
import LoadingKitTransport

/// Writes the connection's own frames, and the bodies of its streams in turn.
extension HTTP2Connection {
    /// Writes the output at the end of the loop's turn, so that a burst of requests is sent in one write.
    func flushLater() {
        guard output.planFlush() else { return }
        loop.executeLater { [self] in
            output.flushWillBegin()
            flush()
        }
    }

    func streamDidBecomeWritable(_ stream: ByteStream) { flush() }

    func flush() {
        var isFull = false
        repeat {
            if life.isClosed { return }
            if !output.bodies.isEmpty { putBodies() }
            isFull = output.isFull
            guard writeOutput() else { return }
        } while isFull
    }

    /// Each stream in turn prepares one frame, until no stream has one or there is enough to write. The next call begins
    /// with the streams that had no turn.
    func putBodies() {
        var isMoving = true
        while isMoving, !output.bodies.isEmpty, !output.isFull {
            isMoving = false
            for entry in output.bodies.entries where !output.isFull && putFrame(entry.stream) {
                isMoving = true
                output.bodies.didSend(entry.stream)
            }
            output.bodies.removeFinished()
        }
    }

    func putFrame(_ stream: HTTP2ClientStream) -> Bool {
        guard var body = stream.body, let exchange = stream.exchange else {
            stream.body = nil
            return false
        }
        if exchange.holdRequest() { return false }
        do throws(HTTP2Error) {
            body.takeOutput()
            let (progress, count) = try body.proceed(stream.number, &codec, to: &output.frames)
            if count > 0 { body.end = output.end }
            stream.body = body
            if count > 0 { exchange.didSendBody(count, framing: HTTP2ConnectionStateMachine.dataHeaderBytes) }
            switch progress {
            case .done:
                // An empty frame has ended the message.
                if count == 0 { exchange.didSendBody(0, framing: HTTP2ConnectionStateMachine.dataHeaderBytes) }
                finishBody(stream)
            case .needsPiece(let reader): readPiece(reader, stream)
            case .blocked, .waiting: break
            }
            return count > 0
        } catch {
            end(stream, with: StreamFailure(error: error, processing: .begun), reset: .cancel)
            return false
        }
    }

    func finishBody(_ stream: HTTP2ClientStream) {
        stream.body = nil
        stream.exchange?.didSendRequest()
    }

    func readPiece(_ reader: any BodySource, _ stream: HTTP2ClientStream) {
        let number = stream.number
        reader.read { [loop] result in
            loop.perform { [self] in supply(result, number) }
        }
    }

    func supply(_ result: Result<Data?, any Error>, _ number: HTTP2StreamID) {
        guard let stream = find(number), stream.body != nil else { return }
        do {
            try stream.body?.supply(result.get())
            flushLater()
        } catch {
            end(stream, with: StreamFailure(error: error, processing: .begun), reset: .cancel)
        }
    }

    func writeOutput() -> Bool {
        while output.prepare(&codec) {
            switch output.withUnwritten({ stream.write($0) }) {
            case .bytes(let count):
                if log != nil { noteSent(count) }
                for entry in output.bodies.entries {
                    entry.stream.body?.outputDidProgress(from: output.writtenInAll)
                }
                output.didWrite(count)
                ping.didSend(loop.now)
            case .wouldBlock:
                ping.socketDidFill()
                return false
            // A reason that the server may have sent can still be read. It is there already.
            case .failed(let error):
                writeError = error
                readLater()
                return false
            }
        }
        return true
    }

    func noteSent(_ count: Int) {
        let lines = output.withUnwritten { log?.describe(sent: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        trace(lines)
    }

    /// A log handler may make any call, so no state is changing here.
    func trace(_ lines: [String]?) { for line in lines ?? [] { pool.logger.trace("\(line)") } }
}
