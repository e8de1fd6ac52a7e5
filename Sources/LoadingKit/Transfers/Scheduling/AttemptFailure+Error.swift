import Foundation
import LoadingKitCore

extension AttemptFailure {
    /// Whether an error is one of those that pass: the network's, and the server's where it has not answered.
    init(_ error: TransferError) {
        let code = error.domain == NSURLErrorDomain ? URLError.Code(rawValue: error.code) : nil
        self = code.map(Self.passes) ?? false ? .broken(error) : .final(error)
    }

    /// An error of the transfer's files.
    init(of error: any Error, _ url: URL?) {
        let failure = error as? PartFailure
        let error = TransferError(URLError(failure?.failure ?? error, url: url))
        self = failure?.isLackOfRoom ?? false ? .noRoom(error) : .final(error)
    }

    private static func passes(_ code: URLError.Code) -> Bool {
        switch code {
        case .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
            .notConnectedToInternet, .secureConnectionFailed, .resourceUnavailable, .cannotLoadFromNetwork,
            .internationalRoamingOff, .callIsActive, .dataNotAllowed:
            true
        case _: false
        }
    }
}
