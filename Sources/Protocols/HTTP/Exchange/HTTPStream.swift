import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitTransport

/// One request and its response on a connection, as its exchange sees it.
///
/// When an exchange has returned `Flow.wait`, and the stream holds back what follows, it calls
/// ``HTTPExchange/streamDidHold()`` as the last thing.
protocol HTTPStream: AnyObject {
    /// The exchange can take no more of the response for now.
    func exchangeDidBecomeBusy(_ exchange: HTTPExchange)
    /// The exchange can take more of the response.
    func exchangeDidBecomeReady(_ exchange: HTTPExchange)
    /// The exchange is over, whether or not the response is.
    func abandon(_ exchange: HTTPExchange)
    /// The exchange does not want the rest of the response, and sends its request again: on this connection, where that
    /// costs less than another; else ``HTTPExchange/restartElsewhere()`` is called.
    func restart(_ exchange: HTTPExchange)
    /// The exchange's upgrade has something to send.
    func outputDidBecomeReady()
    /// Gives away the connection where the exchange's response, of which the head alone was received, has switched it to
    /// another protocol; nil where it has not.
    func takeConnection(from exchange: HTTPExchange) throws -> TakenConnection?
    /// Whether the connection carries one exchange at a time, so that a server can tell by it whose they are.
    var isExclusive: Bool { get }
    /// Bytes that have come, and are no whole head or frame yet.
    var pendingBytes: Int { get }
    /// The connection.
    var connectionInfo: ConnectionInfo { get }
}

/// Why a stream ended before its response did.
struct StreamFailure: Error {
    /// What the server may have done with the request.
    enum Processing {
        /// The server saw none of it.
        case notSent
        /// A reused connection died before any byte of the response: the server may have closed it as idle, before
        /// or after the request arrived.
        case unknown
        /// The server has said that it may process the request (RFC 9113 §6.8), and has closed the connection unanswered.
        case possible
        /// The server had begun to answer, or the connection was new.
        case begun
    }

    let error: any Error
    let processing: Processing
    /// Whether the request was sent behind another one, whose answer did not end: it is that one that needs a connection
    /// which is not as old.
    var isBehind = false

    /// Whether the server has refused the client itself: another connection would be refused, too.
    var isRefusal: Bool {
        guard case .alert(let alert, let use) = (error as? TransportError)?.cause, use != .notAsked else {
            return false
        }
        return alert.wantsCertificate || alert.isAboutCertificate
    }
}

extension HTTPStream {
    var pendingBytes: Int { 0 }

    func takeConnection(from exchange: HTTPExchange) throws -> TakenConnection? { nil }

    /// Whether a response switches the connection, or the stream, to what its request named: 101 in HTTP/1.1, any
    /// success over HTTP/2 (RFC 8441 §4).
    func grantsUpgrade(_ head: ResponseHead) -> Bool {
        isExclusive ? head.status == 101 : 200..<300 ~= head.status
    }
}
