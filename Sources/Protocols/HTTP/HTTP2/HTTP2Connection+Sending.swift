import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitPrimitives
import LoadingKitTransport

/// How a connection writes: frames of its own, and the bodies of its streams in turn.
extension HTTP2Connection {
    /// Writes what there is when the loop has done what it is doing: a burst of requests goes out in one write.
    func flushLater() {
        guard !willFlush else { return }
        willFlush = true
        loop.executeLater { [self] in
            willFlush = false
            flush()
        }
    }

    func streamDidBecomeWritable(_ stream: ByteStream) { flush() }

    func flush() {
        if case .closed = state { return }
        var isFull = false
        repeat {
            bodies.run(putFrame, until: { output.count - written >= Self.outputHighWater })
            isFull = output.count - written >= Self.outputHighWater
            guard writeOutput() else { return }
        } while isFull
    }

    func putFrame(_ carried: HTTP2ClientStream) -> Bool {
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
    func writeOutput() -> Bool {
        while hasOutput() {
            let result = output.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
            switch result {
            case .bytes(let count):
                if log != nil { noteSent(count) }
                written += count
                ping.didSend(loop.now)
            case .wouldBlock: return false
            // What the server has said of it, if anything, can be read.
            case .failed: return false
            }
        }
        return true
    }

    /// Answers wait inside the codec until the server has read those before: there they are bounded.
    func hasOutput() -> Bool {
        if written == output.count {
            output.removeAll(keepingCapacity: true)
            written = 0
            codec.drainControlBytes(into: &output)
        }
        return !output.isEmpty
    }

    func noteSent(_ count: Int) {
        let output = output  // whatever a log handler calls
        output.withUnsafeBytes { log?.send(UnsafeRawBufferPointer(rebasing: $0[written..<written + count])) }
    }
}
