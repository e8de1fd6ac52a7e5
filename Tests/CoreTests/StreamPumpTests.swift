import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

/// The pump between a connection and captured streams.
@Suite struct StreamPumpTests {
    /// The peer always has bytes, and the program reads each piece at once.
    @Test func bytesAreWrittenWhileThePeerNeverPauses() async throws {
        let loop = EventLoop.next()
        let channel = TirelessChannel()
        let readsBeforeTheWrite = try await withTimeout {
            await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
                loop.execute {
                    var input: InputStream?
                    var output: OutputStream?
                    let pump = StreamPump(channel, loop, inputStream: &input, outputStream: &output)
                    input?.open()
                    output?.open()
                    _ = output?.write([1], maxLength: 1)
                    channel.input = input
                    channel.output = output
                    channel.didWrite = { continuation.resume(returning: $0) }
                    pump.start()
                }
            }
        }
        #expect(readsBeforeTheWrite < TirelessChannel.mostReads)
    }

    @Test(arguments: [(true, false), (false, true), (false, false)])
    func aClosedSideStaysClosed(isReadClosed: Bool, isWriteClosed: Bool) async throws {
        let loop = EventLoop.next()
        let channel = TirelessChannel()
        let (isAtEnd, hasRoom) = try await withTimeout {
            await withCheckedContinuation { (continuation: CheckedContinuation<(Bool, Bool), Never>) in
                loop.execute {
                    var input: InputStream?
                    var output: OutputStream?
                    let pump = StreamPump(channel, loop, inputStream: &input, outputStream: &output)
                    input?.open()
                    output?.open()
                    pump.start(isReadClosed: isReadClosed, isWriteClosed: isWriteClosed)
                    let isAtEnd = input?.streamStatus == .atEnd
                    continuation.resume(returning: (isAtEnd, output?.hasSpaceAvailable == true))
                    input?.close()
                    output?.close()
                }
            }
        }
        #expect(isAtEnd == isReadClosed && hasRoom != isWriteClosed)
    }
}

/// Its peer always has bytes, up to a large number of reads. Confined to its loop.
private final class TirelessChannel: StreamChannel, @unchecked Sendable {
    static let mostReads = 10_000

    var input: InputStream?
    var output: OutputStream?
    /// Called at the first write with the number of reads before it.
    var didWrite: ((Int) -> Void)?
    private var reads = 0
    private var read = [UInt8](repeating: 0, count: 1000)
    var handler: (any StreamChannelHandler)?
    private(set) var isClosed = false
    var info: ConnectionInfo? { nil }
    var writeRefusal: LoadFailure? { nil }
    var isBetterRouted: Bool { false }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamReadResult {
        guard reads < Self.mostReads else { return .wouldBlock }
        if input?.hasBytesAvailable == true { _ = input?.read(&read, maxLength: read.count) }
        reads += 1
        let count = min(buffer.count, read.count)
        buffer.copyBytes(from: repeatElement(7, count: count))
        return .bytes(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> ByteStream.WriteResult {
        if let didWrite = didWrite.take() {
            didWrite(reads)
            input?.close()
            output?.close()
        }
        return .bytes(bytes.count)
    }

    func unread(_ bytes: Data) {}

    func finishWriting() {}

    func handOver() throws(LoadFailure) -> ByteStream { throw LoadFailure(.secureConnectionFailed, "not a socket") }

    func followState() {}

    func close() {
        isClosed = true
        handler = nil
    }

    func closeWhenSent() { close() }
}
