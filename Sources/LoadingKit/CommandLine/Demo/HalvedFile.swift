import Dispatch
import LoadingKitLoopbackServer

/// A file whose first half a server sends at once, and the rest after `open()`.
final class HalvedFile: Sendable {
    let content: [UInt8]
    private let gate = DispatchSemaphore(value: 0)
    private let sent: AsyncStream<Void>
    private let sending: AsyncStream<Void>.Continuation

    init(size: Int) {
        content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        (sent, sending) = AsyncStream.makeStream()
    }

    /// Releases waiting responses, and later ones.
    func open() { gate.signal() }

    /// Returns when a response has ended.
    func allWasSent() async { for await _ in sent {} }

    func answer(_ request: ServerRequest) -> ServerResponse {
        .stream(.length(UInt64(content.count))) { [self] body in
            defer { sending.finish() }
            try body.write(Array(content[..<(content.count / 2)]))
            gate.wait()
            gate.signal()
            try body.write(Array(content[(content.count / 2)...]))
        }
    }
}
