import LoadingKitLoopbackServer
import LoadingKitTransport

/// A stream as a test uses it: an actor on the stream's loop, which waits for readiness where the stream does not block.
actor Client {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private final class Ears: ByteStreamHandler {
        var readable: (() -> Void)?
        var writable: (() -> Void)?
        /// Whether the stream became writable after the last write, while the test was not waiting for it.
        var becameWritable = false
        var readableCount = 0

        func streamDidBecomeReadable(_ stream: ByteStream) {
            readableCount += 1
            let waiter = readable
            readable = nil
            waiter?()
        }

        func streamDidBecomeWritable(_ stream: ByteStream) {
            let waiter = writable
            writable = nil
            becameWritable = waiter == nil
            waiter?()
        }
    }

    /// Reads in its notifications alone, and tells when the stream has ended.
    private final class Reader: ByteStreamHandler {
        private var bytes: [UInt8] = []
        private let onEnd: ([UInt8], End) -> Void

        init(onEnd: @escaping ([UInt8], End) -> Void) { self.onEnd = onEnd }

        func streamDidBecomeReadable(_ stream: ByteStream) {
            while true {
                switch stream.read(into: stream.loop.scratch) {
                case .bytes(let count): bytes += stream.loop.scratch[..<count]
                case .wouldBlock: return
                case .end: return end(of: stream, .orderly)
                case .failed(let error): return end(of: stream, .failed(error.cause))
                }
            }
        }

        private func end(of stream: ByteStream, _ end: End) {
            stream.handler = nil
            onEnd(bytes, end)
        }

        func streamDidBecomeWritable(_ stream: ByteStream) {}
    }

    /// Reads in the notifications that follow a row of reads, and notes whether the server asks for a certificate.
    private final class Row: ByteStreamHandler {
        var hasEnded = false
        var isAsked = false

        func streamDidBecomeReadable(_ stream: ByteStream) {
            guard hasEnded else { return }
            while case .bytes = stream.read(into: stream.loop.scratch) {}
        }

        func streamDidBecomeWritable(_ stream: ByteStream) {}

        func stream(
            _ stream: ByteStream, needsIdentityFrom authorities: [[UInt8]],
            _ answer: @escaping (IdentityDecision) -> Void
        ) {
            isAsked = true
            answer(.none)
        }
    }

    enum End: Equatable {
        case orderly
        case failed(TransportError.Cause)
    }

    private let connector: Connector
    private let ears = Ears()
    private var attempt: ConnectAttempt?
    private(set) var stream: ByteStream?

    init(_ loop: EventLoop, resolver: Resolver = Resolver()) {
        self.loop = loop
        connector = Connector(loop: loop, resolver: resolver)
    }

    var info: ConnectionInfo? { stream?.info }
    var isDead: Bool { stream?.isDead ?? true }
    var unacknowledgedBytes: Int { stream?.unacknowledgedBytes ?? -1 }
    var timings: ConnectTimings? { attempt?.timingsSoFar }
    var readableCount: Int { ears.readableCount }

    @discardableResult
    func connect(
        _ endpoint: Endpoint, tls: (context: TLSContext, serverName: String)? = nil,
        asking decider: OnLoop<any TLSDecider>? = nil, over use: NetworkUse = NetworkUse(),
        timeout: UInt64? = 120_000_000_000
    ) async -> TransportError? {
        await withCheckedContinuation { continuation in
            let tls = tls.map { TLSDemand($0.context, $0.serverName, asking: decider?.value ?? RulesAlone()) }
            attempt = connector.connect(to: endpoint, tls: tls, over: use, timeout: timeout) { result in
                switch result {
                case .success(let stream):
                    self.stream = stream
                    stream.handler = self.ears
                    continuation.resume(returning: nil)
                case .failure(let error): continuation.resume(returning: error)
                }
            }
        }
    }

    /// Puts TLS on the stream that is there.
    func secure(_ context: TLSContext, _ serverName: String) async -> TransportError? {
        guard let stream else { return TransportError(.tls, "", .cancelled) }
        return await withCheckedContinuation { continuation in
            let tls = TLSDemand(context, serverName, asking: RulesAlone())
            attempt = connector.secure(stream, tls: tls, timeout: 120_000_000_000) { result in
                switch result {
                case .success(let stream):
                    self.stream = stream
                    stream.handler = self.ears
                    continuation.resume(returning: nil)
                case .failure(let error): continuation.resume(returning: error)
                }
            }
        }
    }

    /// One read, without waiting.
    func readNow(_ count: Int = 65_536) -> ByteStream.ReadResult {
        guard let stream else { return .end }
        return stream.read(into: UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<min(count, 65_536)]))
    }

    /// Reads until `count` bytes are there, or the stream ends.
    func read(_ count: Int) async -> ([UInt8], End?) {
        var all: [UInt8] = []
        while all.count < count {
            switch readNow(count - all.count) {
            case .bytes(let read): all += loop.scratch[..<read]
            case .wouldBlock: await waitUntilReadable()
            case .end: return (all, .orderly)
            case .failed(let error): return (all, .failed(error.cause))
            }
        }
        return (all, nil)
    }

    func readToEnd() async -> ([UInt8], End?) { await read(.max) }

    /// Reads when the stream notifies of input, and not otherwise. Fires the signal when it is ready for that.
    func readWhenNotified(_ isReady: Signal) async -> ([UInt8], End) {
        await withCheckedContinuation { continuation in
            stream?.handler = Reader { continuation.resume(returning: ($0, $1)) }
            isReady.fire()
        }
    }

    /// Reads once in the loop's next turn, as the last of a row of reads, after which the stream notifies of what is
    /// left. Gives the number of bytes, and whether the turn after that has asked for the client's certificate.
    func readAtEndOfRow() async -> (count: Int, isAsked: Bool) {
        await withCheckedContinuation { continuation in
            let row = Row()
            stream?.handler = row
            // The events of what the peer has sent come before.
            loop.executeInNextTurn {
                var result = self.readNow()
                // Session tickets come first, and a read ends behind them.
                while case .wouldBlock = result, self.stream?.mayHaveInput == true { result = self.readNow() }
                let count = if case .bytes(let read) = result { read } else { 0 }
                row.hasEnded = true
                self.stream?.notifyInNextTurn()
                self.loop.executeInNextTurn {
                    self.loop.executeLater { continuation.resume(returning: (count, row.isAsked)) }
                }
            }
        }
    }

    func waitUntilReadable() async {
        await withCheckedContinuation { continuation in ears.readable = { continuation.resume() } }
    }

    /// One write, without waiting.
    func writeNow(_ bytes: [UInt8], _ more: [UInt8] = []) -> ByteStream.WriteResult {
        guard let stream else { return .wouldBlock }
        ears.becameWritable = false
        return bytes.withUnsafeBytes { first in
            more.withUnsafeBytes { second in more.isEmpty ? stream.write(first) : stream.write(first, second) }
        }
    }

    /// Writes all, waiting for room; gives the failure.
    func write(_ bytes: [UInt8]) async -> TransportError.Cause? {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch writeNow(Array(rest)) {
            case .bytes(let count):
                rest = rest.dropFirst(count)
                if !rest.isEmpty { await waitUntilWritable() }
            case .wouldBlock: await waitUntilWritable()
            case .failed(let error): return error.cause
            }
        }
        return nil
    }

    func write(_ text: String) async -> TransportError.Cause? { await write(Array(text.utf8)) }

    func waitUntilWritable() async {
        if ears.becameWritable { return }
        await withCheckedContinuation { continuation in ears.writable = { continuation.resume() } }
    }

    /// Reads what is there, which has to be nothing, writes until a write fails, and reads again, in one turn of the loop.
    /// Nil if that read gives no bytes.
    func readAfterFailedWrite(_ beforeWriting: () -> Void) -> [UInt8]? {
        guard case .wouldBlock = readNow() else { return nil }
        beforeWriting()
        while case .bytes = writeNow([1]) {}
        guard case .bytes(let count) = readNow() else { return nil }
        return Array(loop.scratch[..<count])
    }

    func finishWriting() { stream?.finishWriting() }

    func closeWhenSent() {
        stream?.closeWhenSent()
        // Without effect.
        stream?.closeWhenSent()
        stream = nil
    }

    func close() {
        attempt?.cancel()
        stream?.close()
        stream = nil
    }
}

/// What the verification found holds, and the client has no certificate.
final class RulesAlone: TLSDecider {
    var partition: String { "" }
    var family: TLSFamily? { nil }

    func decide(_ trust: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) { answer(.verdict) }
    func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) { answer(.none) }
}
