import LoadingKitHTTP2
import Testing

@testable import LoadingKitHTTP

/// The output of an HTTP/2 connection: the bytes that were written do not stay in memory, and none is lost.
@Suite struct HTTP2OutputTests {
    /// A socket takes less at a time than the bodies add.
    @Test func aLongBodyLeavesNoWrittenBytesBehind() {
        let frameSize = 16_384
        var codec = HTTP2ConnectionStateMachine(role: .client)
        var output = HTTP2Output()
        var (put, written, largest) = (0, 0, 0)
        for _ in 0..<1000 {
            while !output.isFull {
                output.frames += [UInt8](repeating: UInt8(truncatingIfNeeded: put / frameSize), count: frameSize)
                put += frameSize
            }
            largest = max(largest, output.frames.count)
            let isReady = output.prepare(&codec)
            #expect(isReady)
            let (first, count) = output.withUnwritten { ($0[0], $0.count) }
            #expect(first == UInt8(truncatingIfNeeded: written / frameSize) && count == put - written)
            output.didWrite(10_000)
            written += 10_000
        }
        #expect(largest < 1 << 20, "\(largest) bytes of \(put)")
        output.didWrite(put - written)
        let isReady = output.prepare(&codec)
        #expect(!isReady && output.frames.isEmpty)
    }
}
