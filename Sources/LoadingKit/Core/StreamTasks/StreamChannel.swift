import Foundation
import LoadingKitTransport

/// What a stream task reads from and writes to. Confined to its session's loop.
protocol StreamChannel: AnyObject {
    /// Notified when there may be something to read, or room to write, after there was none. Held until `close()`.
    var handler: (any StreamChannelHandler)? { get set }
    var isClosed: Bool { get }
    /// Why nothing can be written; nil where something can.
    var writeRefusal: LoadFailure? { get }
    /// Whether another way to the peer is better now than the channel's.
    var isBetterRouted: Bool { get }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamReadResult
    /// Takes back bytes that were read and not given to the program: they are read first.
    func unread(_ bytes: Data)
    func write(_ bytes: UnsafeRawBufferPointer) -> StreamWriteResult
    /// Tells the peer that all has been sent.
    func finishWriting()
    /// Gives away the connection, for TLS to be put on it.
    func handOver() throws(LoadFailure) -> ByteStream
    func followState()
    func close()
}

protocol StreamChannelHandler: AnyObject {
    func channelDidBecomeReady()
}

enum StreamReadResult {
    case bytes(Int)
    /// Nothing now; the handler is notified when there is.
    case wouldBlock
    /// The peer has sent all.
    case end
    case failed(any Error)
}

enum StreamWriteResult {
    /// So many bytes were taken.
    case bytes(Int)
    /// Nothing was taken; the handler is notified when there is room.
    case wouldBlock
    case failed(any Error)
}
