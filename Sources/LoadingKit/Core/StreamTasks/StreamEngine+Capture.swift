import Foundation
import LoadingKitTransport

extension StreamEngine {
    func capture(_ channel: any StreamChannel) {
        var input: InputStream?
        var output: OutputStream?
        let pump = StreamPump(channel, loop, inputStream: &input, outputStream: &output)
        guard let input, let output else { return }
        pump.start(isReadClosed: isReadClosed, isWriteClosed: writeRefusal != nil)
        finish(nil, giving: LoopTransfer((input, output)))
    }
}

/// Moves bytes between a connection and the two streams with which a program uses it, until both are closed.
final class StreamPump: StreamChannelHandler, @unchecked Sendable {  // confined to the connection's loop
    private static let bufferSize = 64 * 1024
    /// The largest number of pieces in a row in one direction: the other direction, and other tasks, have their turn
    /// also where both ends are always ready.
    private static let piecesInARow = 16

    private let channel: any StreamChannel
    let loop: EventLoop
    private let incoming = BoundPipe(capacity: bufferSize)
    private let outgoing = BoundPipe(capacity: bufferSize)
    /// Bytes from the program that the connection has not taken yet.
    private var unsent: [UInt8] = []
    private var isReadOver = false
    private var isWriteOver = false
    /// The failure of a write: the program gets it after the bytes that the peer has sent.
    private var writeFailure: (any Error)?
    var willContinue = false

    init(
        _ channel: any StreamChannel, _ loop: EventLoop, inputStream: inout InputStream?,
        outputStream: inout OutputStream?
    ) {
        self.channel = channel
        self.loop = loop
        inputStream = BoundInputStream(incoming)
        outputStream = BoundOutputStream(outgoing)
    }

    /// The connection holds the pump as its handler, until it is closed.
    ///
    /// - Parameters:
    ///   - isReadClosed: whether the read side was closed before: the input stream is at its end.
    ///   - isWriteClosed: whether the write side was closed before: the output stream takes nothing.
    func start(isReadClosed: Bool = false, isWriteClosed: Bool = false) {
        incoming.observe(.writing) { [weak self] in self?.proceedLater() }
        outgoing.observe(.reading) { [weak self] in self?.proceedLater() }
        channel.handler = self
        if isReadClosed {
            isReadOver = true
            incoming.close(.writing)
        }
        if isWriteClosed || channel.writeRefusal != nil { endWriting() }
        proceed()
    }

    func channelDidBecomeReady() { proceed() }

    private func proceedLater() { loop.perform { self.proceed() } }

    private func proceed() {
        guard !channel.isClosed else { return }
        moveIn()
        moveOut()
        guard isReadOver, isWriteOver else { return }
        incoming.observe(.writing, nil)
        outgoing.observe(.reading, nil)
        channel.closeWhenSent()
    }

    private func moveIn() {
        for _ in 0..<Self.piecesInARow {
            guard !isReadOver else { return }
            let room = min(incoming.room, loop.scratch.count)
            if incoming.isBroken {
                isReadOver = true
                return
            }
            guard room > 0 else { return }
            switch channel.read(into: UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<room])) {
            case .bytes(let count): incoming.put(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]))
            case .wouldBlock: return
            case .end:
                if let writeFailure { return fail(writeFailure) }
                isReadOver = true
                incoming.close(.writing)
            case .failed(let error): return fail(writeFailure ?? error)
            }
        }
        continueLater()
    }

    /// The program reads the received bytes before it gets the error.
    private func fail(_ error: any Error) {
        isReadOver = true
        incoming.fail(URLError(error, url: nil))
        endWriting()
        channel.close()
    }

    private func moveOut() {
        for _ in 0..<Self.piecesInARow {
            guard !isWriteOver else { return }
            if unsent.isEmpty { unsent = outgoing.take(atMost: Self.bufferSize) }
            guard !unsent.isEmpty else {
                guard outgoing.isAtEnd else { return }
                channel.finishWriting()
                isWriteOver = true
                return
            }
            switch unsent.withUnsafeBytes({ channel.write($0) }) {
            case .bytes(let count): unsent.removeFirst(count)
            case .wouldBlock: return
            case .failed(let error):
                writeFailure = error
                endWriting()
                return moveIn()
            }
        }
        continueLater()
    }

    private func endWriting() {
        isWriteOver = true
        outgoing.close(.reading)
    }
}
