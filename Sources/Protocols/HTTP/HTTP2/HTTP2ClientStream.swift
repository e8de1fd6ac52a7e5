import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitPrimitives
import LoadingKitTransport

/// One exchange's stream of an HTTP/2 connection.
///
/// A suspended exchange holds back its own stream: its bytes wait here, and its window does not grow.
final class HTTP2ClientStream: HTTPStream {
    private enum Ending {
        case complete
        case failed(StreamFailure)
    }

    let number: HTTP2StreamID
    private let connection: HTTP2Connection
    /// Nil once the end was reported to the exchange, or the exchange is over.
    @exclusivity(unchecked) private(set) var exchange: HTTPExchange?  // read and replaced, never changed in place
    @exclusivity(unchecked) var body: HTTP2BodySender?  // calls nobody while it changes in place
    private(set) var hasResponse = false
    /// What the server may send before it is taken, in bytes.
    var receiveWindow = BandwidthEstimator.initialStream
    /// So many bytes are handed to an exchange at a time that has room again.
    private static let heldPiece = 128 * 1024

    /// What the exchange has had no room for, and how much of it has been handed over since.
    private var held: [UInt8] = []
    private var handed = 0
    /// A head that came while the exchange was held back, and whether a body follows.
    private var heldHead: (head: ResponseHead, hasBody: Bool)?
    private(set) var isHolding = false
    /// How the message has ended, where that is reported to the exchange after what it has had no room for.
    private var ending: Ending?

    init(_ number: HTTP2StreamID, _ exchange: HTTPExchange, _ connection: HTTP2Connection) {
        self.number = number
        self.exchange = exchange
        self.connection = connection
    }

    // MARK: From the exchange

    func exchangeDidBecomeBusy(_ exchange: HTTPExchange) { isHolding = true }

    func exchangeDidBecomeReady(_ exchange: HTTPExchange) {
        guard isHolding, self.exchange === exchange else { return }
        isHolding = false
        if let (head, hasBody) = heldHead {
            heldHead = nil
            hand(head, hasBody: hasBody, exchange)
        }
        handHeld(to: exchange)
        finish()
        if !isHolding { connection.readAgain() }
        connection.flushLater()
        reportHold()
    }

    func abandon(_ exchange: HTTPExchange) {
        guard self.exchange === exchange else { return }
        self.exchange = nil
        dropHeld()
        isHolding = false
        connection.abandon(self)
    }

    func restart(_ exchange: HTTPExchange) {
        abandon(exchange)
        exchange.restartElsewhere()
    }

    func outputDidBecomeReady() { connection.flushLater() }

    var isExclusive: Bool { false }

    var connectionInfo: ConnectionInfo { connection.stream.info }

    // MARK: From the connection

    func receive(interim head: ResponseHead) { exchange?.receive(interim: head) }

    func receive(_ head: ResponseHead, hasBody: Bool) {
        guard let exchange else { return }
        hasResponse = true
        if isHolding { heldHead = (head, hasBody) } else { hand(head, hasBody: hasBody, exchange) }
    }

    private func hand(_ head: ResponseHead, hasBody: Bool, _ exchange: HTTPExchange) {
        if exchange.receive(head, hasBody: hasBody) == .wait, self.exchange === exchange { isHolding = true }
    }

    /// The stream and its connection are consistent: an exchange that holds back a response may say what is done with it.
    func reportHold() {
        if isHolding { exchange?.streamDidHold() }
    }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard let exchange else { return }
        if isHolding || !held.isEmpty { held.append(contentsOf: bytes) } else { hand(bytes, exchange) }
    }

    private func handHeld(to exchange: HTTPExchange) {
        while !isHolding, handed < held.count {
            let end = min(held.count, handed + Self.heldPiece)
            let piece = Array(held[handed..<end])
            handed = end
            piece.withUnsafeBytes { hand($0, exchange) }
        }
        if handed == held.count {
            held = []
            handed = 0
        } else if handed > held.count / 2 {
            held.removeFirst(handed)
            handed = 0
        }
    }

    private func hand(_ bytes: UnsafeRawBufferPointer, _ exchange: HTTPExchange) {
        let flow = exchange.receive(bytes)
        connection.didConsume(bytes.count, of: number)
        if flow == .wait, self.exchange === exchange { isHolding = true }
    }

    func receive(trailers: HTTPFields) { exchange?.receive(trailers: trailers) }

    /// The server has ended its message.
    func ended() {
        ending = .complete
        finish()
    }

    /// What has come before is not lost. Only to a tunnel, which sends as well, the failure is reported at once.
    func failed(_ failure: StreamFailure) {
        ending = .failed(failure)
        if isEmpty || exchange?.upgrade != nil { leave() }
    }

    /// Whether the exchange has had all that has come.
    private var isEmpty: Bool { held.isEmpty && heldHead == nil }

    private func finish() {
        if isEmpty, !isHolding { leave() }
    }

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
        held = []
        handed = 0
        heldHead = nil
    }
}
