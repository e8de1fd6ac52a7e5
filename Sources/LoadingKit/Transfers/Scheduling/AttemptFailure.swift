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

    /// The failure of an attempt that no other attempt follows, unless it starts over.
    var withoutRetry: AttemptFailure { if case .broken(let error) = self { .final(error) } else { self } }

    /// Classifies an error of the load: failures of the network, and to reach the server, are temporary.
    init(_ error: TransferError) {
        let isTemporary = error.urlErrorCode.map(Self.temporary.contains) ?? false
        self = isTemporary ? .broken(error) : .final(error)
    }

    /// Classifies an error of the transfer's own work: only a lack of room on the disk is temporary.
    init(of error: any Error, _ url: URL?) {
        let isLackOfRoom = (error as? PartFailure)?.isLackOfRoom ?? false
        let error = TransferError(ofFile: error, url: url)
        self = isLackOfRoom ? .broken(error) : .final(error)
    }

    /// A certificate is not yet valid, above all, where the machine's clock has not been set since its start.
    private static let temporary = URLError.Code.ofConnection.union([
        .secureConnectionFailed, .serverCertificateNotYetValid, .resourceUnavailable, .cannotLoadFromNetwork,
        .internationalRoamingOff, .callIsActive, .dataNotAllowed,
    ])
}
