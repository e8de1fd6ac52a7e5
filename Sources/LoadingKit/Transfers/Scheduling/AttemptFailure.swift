import Foundation
import LoadingKitCore

/// The reason why an attempt has ended without success.
enum AttemptFailure: Equatable, Sendable {
    /// The network or the server has failed, or the disk is full. Another attempt may succeed.
    case broken(TransferError)
    /// The received part cannot be continued. The whole content is loaded again at once.
    case startOver
    /// Another attempt would fail in the same way.
    case final(TransferError)

    var error: TransferError? {
        switch self {
        case .broken(let error), .final(let error): error
        case .startOver: nil
        }
    }

    /// Classifies an error: failures of the network, and of a server that has not answered, are temporary.
    ///
    /// - Parameter isAnswered: Whether the server has answered an upload, which it would get twice by another attempt.
    init(_ error: TransferError, isAnswered: Bool = false) {
        let code = error.domain == NSURLErrorDomain ? URLError.Code(rawValue: error.code) : nil
        let isPassing = code.map(Self.passing.contains) ?? false
        self = isPassing && !isAnswered ? .broken(error) : .final(error)
    }

    /// - Parameter isAnswered: As above.
    init(of error: any Error, _ url: URL?, isAnswered: Bool = false) {
        let isLackOfRoom = (error as? PartFailure)?.isLackOfRoom ?? false
        let error = TransferError(ofFile: error, url: url)
        self = isLackOfRoom && !isAnswered ? .broken(error) : .final(error)
    }

    private static let passing: Set<URLError.Code> = [
        .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
        .notConnectedToInternet, .secureConnectionFailed, .resourceUnavailable, .cannotLoadFromNetwork,
        .internationalRoamingOff, .callIsActive, .dataNotAllowed,
    ]
}
