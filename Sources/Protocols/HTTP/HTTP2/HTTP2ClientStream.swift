import Foundation
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitPrimitives
import LoadingKitTransport

/// The stream of one exchange on an HTTP/2 connection. A suspended exchange blocks only its own stream: its bytes wait
/// here, and its window does not grow.
final class HTTP2ClientStream: HTTPStream {
    private enum Ending {
        case complete
        case failed(StreamFailure)
    }

    let number: HTTP2StreamID
    private let connection: HTTP2Connection
    private let arrivalsBefore: Int
    /// Whether the stream is to switch to another protocol.
    private let switches: Bool
    /// Whether the server has sent anything since the request, for any stream.
    var hasHeardSince: Bool { connection.arrivalCount != arrivalsBefore }
    /// Nil once the exchange has the end or is over.
    @exclusivity(unchecked) private(set) var exchange: HTTPExchange?  // read and replaced, never changed in place
    @exclusivity(unchecked) var body: HTTP2BodySender?  // calls no other object while it changes in place
    @exclusivity(unchecked) private(set) var hasResponse = false
    /// The bytes that the server may send before the exchange takes them.
    @exclusivity(unchecked) private(set) var window = BandwidthEstimator.initialStream
    @exclusivity(unchecked) private var reading = FluentReading()
    @exclusivity(unchecked) private var held = HeldBytes()
    /// Arrived while the exchange was held back.
    @exclusivity(unchecked) private var heldHead: (head: ResponseHead, hasBody: Bool)?
    private(set) var isHolding = false {
        didSet { if isHolding != oldValue, isListed { connection.holdingCount += isHolding ? 1 : -1 } }
    }
    /// Whether the stream is in its connection's table.
    var isListed = false {
        didSet {
            guard isListed != oldValue else { return }
            if isHolding { connection.holdingCount += isListed ? 1 : -1 }
            if switches { connection.switchedCount += isListed ? 1 : -1 }
        }
    }
    /// Reported to the exchange when it is not held back, after the held bytes.
    @exclusivity(unchecked) private var ending: Ending?

    init(_ number: HTTP2StreamID, _ exchange: HTTPExchange, _ connection: HTTP2Connection) {
        self.number = number
        self.exchange = exchange
        self.connection = connection
        switches = exchange.upgrade != nil
        arrivalsBefore = connection.arrivalCount
    }

    // MARK: The window

    /// Counts bytes that the exchange took on arrival. Returns the size of a larger window if they justify one.
    func noteTaken(_ count: Int, _ now: MonotonicTime) -> Int? {
        reading.noteTaken(count, window: window, now)
    }

    func windowDidGrow(by count: Int) { window += count }

    private func hold() {
        isHolding = true
        reading.readerWasHeldBack()
    }

    // MARK: From the exchange

    func exchangeDidBecomeBusy(_: ExchangeNumber) { hold() }

    func exchangeDidBecomeReady(_: ExchangeNumber) {
        guard isHolding, let exchange else { return }
        isHolding = false
        if let (head, hasBody) = heldHead {
            heldHead = nil
            deliver(head, hasBody: hasBody, exchange)
        }
        deliverHeld(to: exchange)
        finish()
        if !isHolding { connection.readAgain() }
        connection.flushLater()
        reportHold()
    }

    func abandon(_: ExchangeNumber) {
        guard exchange != nil else { return }
        exchange = nil
        dropHeld()
        isHolding = false
        connection.abandon(self)
    }

    func restart(_ exchange: ExchangeNumber) -> StreamRestart {
        abandon(exchange)
        return .elsewhere
    }

    func outputDidBecomeReady() { connection.flushLater() }

    var isExclusive: Bool { false }
    var pendingBytes: Int { connection.codec.pendingBytes }
    var connectionInfo: ConnectionInfo { connection.stream.info }

    // MARK: From the connection

    func receive(interim head: ResponseHead) { exchange?.receive(interim: head) }

    func receive(_ head: ResponseHead, hasBody: Bool) {
        guard let exchange else { return }
        hasResponse = true
        if isHolding { heldHead = (head, hasBody) } else { deliver(head, hasBody: hasBody, exchange) }
    }

    private func deliver(_ head: ResponseHead, hasBody: Bool, _ exchange: HTTPExchange) {
        if exchange.receive(head, hasBody: hasBody) == .wait, self.exchange === exchange { hold() }
    }

    /// The stream and its connection are consistent now, so the exchange may decide about a response that it holds
    /// back.
    func reportHold() { if isHolding { exchange?.streamDidHold() } }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard let exchange else { return }
        if isHolding || !held.isEmpty { held.append(bytes) } else { deliver(bytes, exchange, isFluent: true) }
    }

    private func deliverHeld(to exchange: HTTPExchange) {
        while !isHolding, let piece = held.takeFirst() {
            piece.withUnsafeBytes { deliver($0, exchange, isFluent: false) }
        }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer, _ exchange: HTTPExchange, isFluent: Bool) {
        let flow = exchange.receive(bytes)
        if flow == .wait, self.exchange === exchange { hold() }
        connection.readerDidTake(bytes.count, of: self, isFluent: isFluent && !isHolding && self.exchange != nil)
    }

    func receive(trailers: HTTPFields) { exchange?.receive(trailers: trailers) }

    func ended() {
        ending = .complete
        finish()
    }

    /// The response's parts that arrived before are delivered first, and the exchange decides first about a response that
    /// it holds back. Only a tunnel, which also sends, gets the failure at once, behind all bytes that have arrived.
    func failed(_ failure: StreamFailure) {
        ending = .failed(failure)
        guard exchange?.isTunnel == true else { return finish() }
        while heldHead == nil, let exchange, let piece = held.takeFirst() {
            piece.withUnsafeBytes { _ = exchange.receive($0) }
        }
        leave()
    }

    /// Reports the end, unless the exchange is held back or has not got everything before it.
    private func finish() { if held.isEmpty, heldHead == nil, !isHolding { leave() } }

    private func leave() {
        guard let ending, let exchange else { return }
        self.exchange = nil
        dropHeld()
        switch ending {
        case .complete: exchange.ended()
        case .failed(let failure): exchange.failed(failure)
        }
    }

    private func dropHeld() {
        held = HeldBytes()
        heldHead = nil
        connection.windows.giveBack(window - BandwidthEstimator.initialStream)
        window = BandwidthEstimator.initialStream
    }
}
