import Foundation
import LoadingKitTransport

/// An HTTP/1.1 connection that has switched to another protocol (RFC 9110 §7.8), until either side closes it.
final class HTTP1Tunnel: HTTPStream, ByteStreamHandler, @unchecked Sendable {  // confined to `loop`
    /// The number of reads in a row before the loop's other connections have their turn.
    private static let readsInARow = 16

    /// The time that the peer has to close after the client's last bytes, in seconds. Closing with unread bytes would
    /// reset the connection, and the reset may overtake the last bytes.
    private static let lingerTime = 2.0

    private enum State {
        case open(HTTPExchange)
        /// Remaining output is written, and received bytes are dropped.
        case lingering(LoopTimer)
        case closed
    }

    private let stream: ByteStream
    private let loop: EventLoop
    private let upgrade: any HTTPUpgrade
    private var state: State
    /// Bytes for which the exchange has no room; nil while it has room.
    private var held: [UInt8]?
    private var output: [UInt8] = []
    private var written = 0
    private var willWrite = false
    private var writeError: TransportError?

    /// - Parameter rest: the bytes that were received behind the response.
    init(_ stream: ByteStream, _ exchange: HTTPExchange, _ upgrade: any HTTPUpgrade, rest: [UInt8]) {
        self.stream = stream
        self.upgrade = upgrade
        loop = stream.loop
        state = .open(exchange)
        held = rest
    }

    /// Takes over the stream from its connection.
    func start() {
        stream.handler = self
        outputDidBecomeReady()
        if case .open(let exchange) = state { exchangeDidBecomeReady(exchange.number) }
    }

    // MARK: From the exchange

    func exchangeDidBecomeBusy(_: ExchangeNumber) { if held == nil, writeError == nil { held = [] } }

    func exchangeDidBecomeReady(_: ExchangeNumber) {
        guard let bytes = held, case .open(let exchange) = state else { return }
        held = nil
        if !bytes.isEmpty { bytes.withUnsafeBytes { give($0, to: exchange) } }
        readMore()
    }

    func abandon(_: ExchangeNumber) {
        guard case .open = state else { return }
        held = nil
        let timer = loop.schedule(at: loop.now.advanced(bySeconds: Self.lingerTime)) { [self] in close() }
        state = .lingering(timer)
        // Not at once: this call may be inside the upgrade's own call, which would have to return its last output here,
        // or inside another connection's reading, which uses `loop.scratch`.
        loop.execute { [self] in
            // Behind output that is half written.
            upgrade.takeLastOutput(&output)
            write()
            readMore()
        }
    }

    func restart(_ exchange: ExchangeNumber) -> StreamRestart {
        abandon(exchange)
        return .elsewhere
    }

    var isExclusive: Bool { true }
    var connectionInfo: ConnectionInfo { stream.info }

    /// Output is written at the end of the loop's turn, together with more that is added until then.
    func outputDidBecomeReady() {
        guard !willWrite else { return }
        willWrite = true
        loop.executeLater { [self] in
            willWrite = false
            write()
        }
    }

    // MARK: Writing

    func streamDidBecomeWritable(_ stream: ByteStream) { write() }

    private func write() {
        if case .closed = state { return }
        if writeError != nil { return }
        while written < output.count || refill() {
            let result = output.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
            switch result {
            case .bytes(let count):
                written += count
                upgrade.outputDidProgress()
            case .wouldBlock: return
            case .failed(let error): return writeDidFail(error)
            }
        }
    }

    /// The server's last bytes are still read, also if the exchange has no room for them. They are there already: what
    /// arrives after a connection has failed is dropped.
    private func writeDidFail(_ error: TransportError) {
        guard case .open = state else { return fail(error) }
        writeError = error
        // Not at once: the caller may be inside another connection's reading, which uses `loop.scratch`.
        loop.execute { [self] in
            if let bytes = held.take(), case .open(let exchange) = state {
                bytes.withUnsafeBytes { give($0, to: exchange) }
            }
            readMore()
        }
    }

    private func refill() -> Bool {
        guard case .open = state else { return false }
        written = 0
        output.removeAll(keepingCapacity: true)
        upgrade.takeOutput(&output)
        return !output.isEmpty
    }

    // MARK: Reading

    func streamDidBecomeReadable(_ stream: ByteStream) { readMore() }

    private func readMore() {
        for _ in 0..<Self.readsInARow {
            if case .closed = state { return }
            guard held == nil else { return }
            switch stream.read(into: loop.scratch) {
            case .bytes(let count):
                guard case .open(let exchange) = state else { continue }
                give(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]), to: exchange)
            case .wouldBlock:
                if let writeError { fail(writeError) }
                return
            case .end: return end()
            case .failed(let error): return fail(error)
            }
        }
        stream.notifyInNextTurn()
    }

    private func give(_ bytes: UnsafeRawBufferPointer, to exchange: HTTPExchange) {
        if exchange.receive(bytes) == .wait, case .open = state, writeError == nil { held = [] }
    }

    // MARK: The end

    private func end() {
        guard case .open(let exchange) = state else { return close() }
        close()
        exchange.ended()
    }

    private func fail(_ error: TransportError) {
        guard case .open(let exchange) = state else { return close() }
        close()
        exchange.failed(StreamFailure(error: error, processing: .begun))
    }

    private func close() {
        if case .lingering(let timer) = state { timer.cancel() }
        state = .closed
        held = nil
        stream.close()
    }
}
