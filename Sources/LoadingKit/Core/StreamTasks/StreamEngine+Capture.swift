import Foundation
import LoadingKitTransport

/// A connection that becomes a pair of Foundation's streams.
extension StreamEngine {
    func capture(_ stream: ByteStream) {
        var input: InputStream?
        var output: OutputStream?
        let pump = StreamPump(stream, inputStream: &input, outputStream: &output)
        guard let input, let output else { return }
        pump.start()
        finish(nil, tellsEnd: false)
        let streams = LoopTransfer((input, output))
        core.mailbox.post { [delegate, session, task] in
            delegate.didBecome(streams.value.0, streams.value.1, session, task)
        }
    }
}

/// Moves bytes between a connection and the two streams that a program has in its stead, until both are closed.
final class StreamPump: ByteStreamHandler, @unchecked Sendable {  // confined to the connection's loop
    private static let bufferSize = 64 * 1024

    private let stream: ByteStream
    private let incoming = BoundPipe(capacity: bufferSize)
    private let outgoing = BoundPipe(capacity: bufferSize)
    /// Bytes taken from the program that the connection has not taken yet.
    private var unsent: [UInt8] = []
    private var isReadOver = false
    private var isWriteOver = false

    init(_ stream: ByteStream, inputStream: inout InputStream?, outputStream: inout OutputStream?) {
        self.stream = stream
        inputStream = BoundInputStream(incoming)
        outputStream = BoundOutputStream(outgoing)
    }

    /// The connection holds the pump as its handler, until it is closed.
    func start() {
        incoming.observe(.writing) { [weak self] in self?.proceedLater() }
        outgoing.observe(.reading) { [weak self] in self?.proceedLater() }
        stream.handler = self
        proceed()
    }

    func streamIsReadable(_ stream: ByteStream) { proceed() }

    func streamIsWritable(_ stream: ByteStream) { proceed() }

    private func proceedLater() { stream.loop.perform { self.proceed() } }

    private func proceed() {
        guard !stream.isClosed else { return }
        moveIn()
        moveOut()
        guard isReadOver, isWriteOver else { return }
        incoming.observe(.writing, nil)
        outgoing.observe(.reading, nil)
        stream.close()
    }

    private func moveIn() {
        while !isReadOver {
            let room = min(incoming.room, stream.loop.scratch.count)
            if incoming.isBroken {
                isReadOver = true
                return
            }
            guard room > 0 else { return }
            switch stream.read(into: UnsafeMutableRawBufferPointer(rebasing: stream.loop.scratch[..<room])) {
            case .bytes(let count): incoming.put(UnsafeRawBufferPointer(rebasing: stream.loop.scratch[..<count]))
            case .wouldBlock: return
            case .end: endReading()
            case .failed:
                endReading()
                endWriting()
            }
        }
    }

    private func endReading() {
        isReadOver = true
        incoming.close(.writing)
    }

    private func moveOut() {
        while !isWriteOver {
            if unsent.isEmpty { unsent = outgoing.take(atMost: Self.bufferSize) }
            guard !unsent.isEmpty else {
                guard outgoing.isAtEnd else { return }
                stream.finishWriting()
                isWriteOver = true
                return
            }
            switch unsent.withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count): unsent.removeFirst(count)
            case .wouldBlock: return
            case .failed:
                endReading()
                endWriting()
            }
        }
    }

    private func endWriting() {
        isWriteOver = true
        outgoing.close(.reading)
    }
}
