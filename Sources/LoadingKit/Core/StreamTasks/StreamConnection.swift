import Foundation
import LoadingKitTransport

/// A connection that belongs to a stream task. Confined to its loop.
final class StreamConnection: StreamChannel, ByteStreamHandler {
    private let stream: ByteStream
    /// Bytes to read before the stream's: they were received before the task had the connection, or were returned by a
    /// read.
    private var early: ArraySlice<UInt8>

    var handler: (any StreamChannelHandler)? {
        didSet {
            stream.handler = handler == nil ? nil : self
            guard handler != nil, !early.isEmpty else { return }
            stream.loop.executeLater { [weak self] in self?.handler?.channelDidBecomeReady() }
        }
    }

    /// - Parameter early: the bytes that were received before the task had the connection.
    init(_ stream: ByteStream, early: [UInt8] = []) {
        self.stream = stream
        self.early = early[...]
    }

    /// The number of early bytes in memory, including those that were read. For tests.
    var storedCount: Int { early.endIndex }

    var isClosed: Bool { stream.isClosed }
    var info: ConnectionInfo? { stream.info }
    var writeRefusal: LoadFailure? { nil }
    var isBetterRouted: Bool { stream.isBetterRouted }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamReadResult {
        guard early.isEmpty else { return readEarly(into: buffer) }
        return switch stream.read(into: buffer) {
        case .bytes(let count): .bytes(count)
        case .wouldBlock: .wouldBlock
        case .end: .end
        case .failed(let error): .failed(error)
        }
    }

    private func readEarly(into buffer: UnsafeMutableRawBufferPointer) -> StreamReadResult {
        let count = min(early.count, buffer.count)
        early.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
        // An empty slice would keep the whole array.
        early = count == early.count ? [] : early.dropFirst(count)
        return .bytes(count)
    }

    func unread(_ bytes: Data) { early = bytes + early }

    func write(_ bytes: UnsafeRawBufferPointer) -> ByteStream.WriteResult { stream.write(bytes) }

    func finishWriting() { stream.finishWriting() }

    func handOver() throws(LoadFailure) -> ByteStream {
        guard stream.info.tls == nil else {
            throw LoadFailure(.secureConnectionFailed, "the connection already uses TLS")
        }
        // These bytes would count as bytes that the peer has sent under TLS.
        guard early.isEmpty else {
            throw LoadFailure(
                .secureConnectionFailed,
                "\(early.count) bytes received without TLS were not read before TLS was started")
        }
        return stream
    }

    func followState() {}

    func close() {
        handler = nil
        early = []
        stream.close()
    }

    func closeWhenSent() {
        handler = nil
        early = []
        stream.closeWhenSent()
    }

    // MARK: ByteStreamHandler

    func streamDidBecomeReadable(_ stream: ByteStream) { handler?.channelDidBecomeReady() }

    func streamDidBecomeWritable(_ stream: ByteStream) { handler?.channelDidBecomeReady() }
}

/// The source and destination of a stream task's bytes. Confined to its session's loop.
protocol StreamChannel: AnyObject {
    /// Notified when there may be bytes to read, or room to write, after there was none. Held until `close()`.
    var handler: (any StreamChannelHandler)? { get set }
    var isClosed: Bool { get }
    /// Nil where the bytes are a response's body, whose connection is HTTP's.
    var info: ConnectionInfo? { get }
    /// The reason why nothing can be written; nil where writing is possible.
    var writeRefusal: LoadFailure? { get }
    /// Whether a better route to the peer than the channel's is available.
    var isBetterRouted: Bool { get }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamReadResult
    /// Takes back bytes that were read and not passed to the program: they are read first.
    func unread(_ bytes: Data)
    func write(_ bytes: UnsafeRawBufferPointer) -> ByteStream.WriteResult
    /// Signals the peer that everything has been sent.
    func finishWriting()
    /// Hands over the connection, for a TLS handshake.
    func handOver() throws(LoadFailure) -> ByteStream
    func followState()
    /// Closes the channel at once. Bytes that the system has not taken are not sent.
    func close()
    /// Closes the channel. Bytes that counted as written are sent first, if the peer takes them in time.
    func closeWhenSent()
}

protocol StreamChannelHandler: AnyObject {
    var loop: EventLoop { get }
    /// Whether `continueLater()` was called, and the handler has not gone on since.
    var willContinue: Bool { get set }
    func channelDidBecomeReady()
}

extension StreamChannelHandler {
    /// Goes on in the next turn, once, behind the loop's other work.
    func continueLater() {
        guard !willContinue else { return }
        willContinue = true
        loop.executeInNextTurn { [self] in
            willContinue = false
            channelDidBecomeReady()
        }
    }
}

enum StreamReadResult {
    case bytes(Int)
    /// No bytes are available; the handler is notified when there are some.
    case wouldBlock
    /// The peer has sent everything.
    case end
    case failed(any Error)
}
