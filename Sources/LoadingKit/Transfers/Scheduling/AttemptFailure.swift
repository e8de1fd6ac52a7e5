import Foundation
import LoadingKitCore

/// Why an attempt has ended without success.
enum AttemptFailure: Equatable, Sendable {
    /// The network or the server has failed, or the disk is full: another attempt may succeed.
    case broken(TransferError)
    /// What was there cannot be continued: all is loaded again, at once.
    case startOver
    /// Another attempt would end as this one did.
    case final(TransferError)

    var error: TransferError? {
        switch self {
        case .broken(let error), .final(let error): error
        case .startOver: nil
        }
    }

    /// Whether an error is one of those that pass: the network's, and the server's where it has not answered.
    init(_ error: TransferError) {
        let code = error.domain == NSURLErrorDomain ? URLError.Code(rawValue: error.code) : nil
        self = code.map(Self.passing.contains) ?? false ? .broken(error) : .final(error)
    }

    /// An error of the transfer's files.
    init(of error: any Error, _ url: URL?) {
        let isLackOfRoom = (error as? PartFailure)?.isLackOfRoom ?? false
        let error = TransferError(ofFile: error, url: url)
        self = isLackOfRoom ? .broken(error) : .final(error)
    }

    private static let passing: Set<URLError.Code> = [
        .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
        .notConnectedToInternet, .secureConnectionFailed, .resourceUnavailable, .cannotLoadFromNetwork,
        .internationalRoamingOff, .callIsActive, .dataNotAllowed,
    ]
}
