import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// Runs handshakes with a proxy on a connection to it. Confined to the connection's loop.
final class TunnelDriver: ByteStreamHandler {
    enum Outcome {
        /// The stream leads to the server.
        case established(ByteStream, HTTPFields)
        case challenged(TunnelChallenge)
        case failed(any Error)
    }

    private enum State {
        case running(any TunnelHandshake)
        /// No handshake is running.
        case waiting
        case ended
    }

    /// The number of reads in a row before the loop's other connections have their turn.
    private static let readsInARow = 16
    /// The same where each read takes one byte.
    private static let singleByteReadsInARow = 512

    private let stream: ByteStream
    private let proxy: Proxy
    private let destination: String
    private let readsAhead: Bool
    private var state = State.waiting
    private var output: [UInt8] = []
    private var report: ((Outcome) -> Void)?

    /// - Parameters:
    ///   - readsAhead: false if the server may send first. The proxy's response is then read one byte at a time.
    ///   - report: called once for each handshake. The next one may be run in it.
    init(
        _ stream: ByteStream, _ proxy: Proxy, destination: String, readsAhead: Bool = true,
        report: @escaping (Outcome) -> Void
    ) {
        self.readsAhead = readsAhead
        self.stream = stream
        self.proxy = proxy
        self.destination = destination
        self.report = report
        stream.handler = self
    }

    var connection: ConnectionInfo { stream.info }
    var loop: EventLoop { stream.loop }

    /// Whether the proxy waits for another handshake and has not closed the connection.
    var isUsable: Bool { if case .waiting = state { !stream.isDead } else { false } }

    var awaited: String? { if case .running(let handshake) = state { handshake.awaited } else { nil } }

    func run(_ handshake: some TunnelHandshake) {
        var handshake = handshake
        do {
            output = try handshake.begin()
            state = .running(handshake)
            write()
        } catch {
            fail(error)
        }
    }

    func cancel() {
        report = nil
        state = .ended
        stream.close()
    }

    func streamDidBecomeWritable(_ stream: ByteStream) { write() }

    func streamDidBecomeReadable(_ stream: ByteStream) {
        for _ in 0..<(readsAhead ? Self.readsInARow : Self.singleByteReadsInARow) {
            guard case .running(let handshake) = state else { return }
            let scratch = stream.loop.scratch
            let memory = readsAhead ? scratch : UnsafeMutableRawBufferPointer(rebasing: scratch.prefix(1))
            switch stream.read(into: memory) {
            case .bytes(let count): take(UnsafeRawBufferPointer(rebasing: memory.prefix(count)), handshake)
            case .wouldBlock: return
            case .end: if let step = handshake.connectionDidClose() { act(on: step) } else { fail(.closed) }
            case .failed(let error): finish(.failed(error))
            }
        }
        if case .running = state { stream.notifyInNextTurn() }
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ handshake: any TunnelHandshake) {
        var handshake = handshake
        do {
            let step = try handshake.receive(bytes)
            state = .running(handshake)
            act(on: step)
        } catch {
            fail(error)
        }
    }

    private func act(on step: TunnelStep) {
        switch step {
        case .needsMore: break
        case .send(let bytes):
            output += bytes
            write()
        case .challenged(let challenge):
            output = []
            state = .waiting
            report?(.challenged(challenge))
        case .established(let fields):
            // The stream's next owner sets its own handler.
            stream.handler = nil
            finish(.established(stream, fields))
        }
    }

    private func write() {
        while !output.isEmpty, case .running = state {
            switch output.withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count): output.removeFirst(count)
            case .wouldBlock: return
            case .failed(let error): finish(.failed(error))
            }
        }
    }

    private func fail(_ cause: ProxyError.Cause) {
        finish(.failed(ProxyError(proxy: proxy, destination: destination, cause: cause)))
    }

    private func finish(_ outcome: Outcome) {
        guard let report else { return }
        self.report = nil
        state = .ended
        if case .failed = outcome { stream.close() }
        report(outcome)
    }
}
