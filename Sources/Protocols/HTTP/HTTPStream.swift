import Foundation
import LoadingKitCore
import LoadingKitHTTP1

/// One request and its response on a connection, as its exchange sees it.
protocol HTTPStream: AnyObject {
    /// The exchange can take no more of the response for now.
    func exchangeIsBusy(_ exchange: HTTPExchange)
    /// The exchange can take more of the response.
    func exchangeIsReady(_ exchange: HTTPExchange)
    /// The exchange is over, whether or not the response is.
    func abandon(_ exchange: HTTPExchange)
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
        /// The server had begun to answer, or the connection was new.
        case begun
    }

    let error: any Error
    let processing: Processing
}
