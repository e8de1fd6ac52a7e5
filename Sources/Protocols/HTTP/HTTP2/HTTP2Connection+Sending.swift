import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitPrimitives
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

    /// Lets each stream in turn prepare one frame, until no stream has one or there is enough to write.
    func putBodies() {
        var isMoving = true
        while isMoving, !output.bodies.isEmpty, !output.isFull {
            isMoving = false
            for stream in output.bodies.streams where !output.isFull && putFrame(stream) { isMoving = true }
            output.bodies.removeFinished()
        }
    }

    func putFrame(_ carried: HTTP2ClientStream) -> Bool {
        guard var body = carried.body, let exchange = carried.exchange else {
            carried.body = nil
            return false
        }
        do throws(HTTP2Error) {
            body.takeOutput()
            let (progress, count) = try body.proceed(carried.number, &codec, to: &output.frames)
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

    func finishBody(_ carried: HTTP2ClientStream) {
        carried.body = nil
        carried.exchange?.didSendRequest()
    }

    func readPiece(_ reader: any BodySource, _ carried: HTTP2ClientStream) {
        let number = carried.number
        reader.read { [loop] result in
            loop.perform { [self] in supply(result, number) }
        }
    }

    func supply(_ result: Result<Data?, any Error>, _ number: HTTP2StreamID) {
        guard let carried = find(number), carried.body != nil else { return }
        do {
            if try carried.body?.supply(result.get(), number, &codec, to: &output.frames) == true {
                carried.exchange?.didSendBody(0, framing: HTTP2ConnectionStateMachine.dataHeaderBytes)
                finishBody(carried)
            }
            flushLater()
        } catch {
            end(carried, with: StreamFailure(error: error, processing: .begun), reset: .cancel)
        }
    }

    /// Returns false if the socket is full or broken.
    func writeOutput() -> Bool {
        while output.prepare(&codec) {
            switch output.withUnwritten({ stream.write($0) }) {
            case .bytes(let count):
                if log != nil { noteSent(count) }
                output.didWrite(count)
                ping.didSend(loop.now)
            case .wouldBlock: return false
            // A reason that the server may have sent can still be read.
            case .failed: return false
            }
        }
        return true
    }

    func noteSent(_ count: Int) {
        let lines = output.withUnwritten { log?.describe(sent: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        trace(lines)
    }

    /// A log handler may make any call, so no state is changing here.
    func trace(_ lines: [String]?) {
        for line in lines ?? [] { pool.logger.trace("\(line)") }
    }
}
