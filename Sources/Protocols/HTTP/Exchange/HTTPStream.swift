import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitTransport

/// One request and its response on a connection, from the exchange's view.
///
/// A connection may have gone on to another exchange, so an exchange names itself by its number. After an exchange has
/// returned `Flow.wait`, a stream that holds back the following events calls `streamDidHold` as its last action.
protocol HTTPStream: AnyObject {
    /// The exchange can take no more of the response for now.
    func exchangeDidBecomeBusy(_ exchange: ExchangeNumber)
    /// The exchange can take more of the response.
    func exchangeDidBecomeReady(_ exchange: ExchangeNumber)
    /// The exchange is over. The response may be incomplete.
    func abandon(_ exchange: ExchangeNumber)
    /// The exchange does not need the rest of the response, and sends its request again.
    func restart(_ exchange: ExchangeNumber) -> StreamRestart
    /// The exchange may have more to send: its task was resumed, or its upgrade has bytes.
    func outputDidBecomeReady()
    /// Gives away the connection if the exchange's response, of which only the head was received, has switched it to
    /// another protocol; nil if it has not.
    func takeConnection(from exchange: ExchangeNumber) throws -> TakenConnection?
    /// Whether the connection carries one exchange at a time, so that a server can identify the client by the
    /// connection.
    var isExclusive: Bool { get }
    /// The number of received bytes that do not yet form a complete head or frame.
    var pendingBytes: Int { get }
    var connectionInfo: ConnectionInfo { get }
}

/// The number of an exchange in its session. Older exchanges have smaller numbers.
typealias ExchangeNumber = UInt64

/// The connection on which a request is sent again.
enum StreamRestart {
    /// This connection, after the rest of the response: the stream carries the exchange again, or calls
    /// `restartElsewhere` if the rest is too long or the connection is lost.
    case here
    /// A new connection.
    case elsewhere
    /// Any connection: other requests are behind this one on its former connection.
    case inTurn
}

/// The reason why a stream ended before its response did.
struct StreamFailure: Error {
    /// The server's processing of the request, as far as it is known.
    enum Processing {
        /// The server received no part of the request.
        case notSent
        /// A reused connection was lost before any byte of the response. The server may have closed it as idle, before
        /// or after the request arrived.
        case unknown
        /// The server may have processed the request, and has closed the connection without a response: it has said so
        /// (RFC 9113 §6.8), was awake since the request, or is silent.
        case possible
        /// The server had begun to respond, or the connection was new.
        case begun
    }

    let error: any Error
    let processing: Processing
    /// Whether the request was sent behind another one whose response did not complete. The other request needs a newer
    /// connection; this request does not.
    var isBehind = false

    /// Whether the server has refused the client itself. It would refuse another connection, too.
    var isRefusal: Bool {
        guard case .alert(let alert, let use) = (error as? TransportError)?.cause, use != .notAsked else {
            return false
        }
        return alert.wantsCertificate || alert.isAboutCertificate
    }
}

extension HTTPStream {
    var pendingBytes: Int { 0 }

    func takeConnection(from exchange: ExchangeNumber) throws -> TakenConnection? { nil }

    /// Whether a response switches the connection, or the stream, to the protocol that its request named: status 101 in
    /// HTTP/1.1, any success over HTTP/2 (RFC 8441 §4).
    func grantsUpgrade(_ head: ResponseHead) -> Bool { isExclusive ? head.status == 101 : 200..<300 ~= head.status }
}
