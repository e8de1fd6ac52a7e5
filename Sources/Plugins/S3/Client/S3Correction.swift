import Foundation

/// What an answer says was wrong with a request that can be sent once more in another way: a pure decision.
enum S3Correction: Hashable, Sendable {
    /// The server's clock differs.
    case clock(serverDate: Date)
    /// The bucket is in another region.
    case region(String)
    /// The temporary credentials are over.
    case credentials

    /// Which of the corrections it is; each is made once for a request.
    enum Kind: Hashable { case clock, region, credentials }

    var kind: Kind {
        switch self {
        case .clock: .clock
        case .region: .region
        case .credentials: .credentials
        }
    }

    /// - Parameters:
    ///   - region: what the request was signed for.
    ///   - serverDate: the answer's `Date`.
    init?(_ error: S3Error, signedFor region: String, serverDate: Date?) {
        switch error.kind {
        case .clockSkewed:
            guard let serverDate else { return nil }
            self = .clock(serverDate: serverDate)
        case .expiredCredentials: self = .credentials
        default:
            // A 400 or 403 that names another region comes from a signature for the wrong one; a HEAD's has no code.
            guard [301, 307, 308, 400, 403].contains(error.statusCode), let actual = error.region, actual != region,
                error.kind == .wrongRegion || error.statusCode == 400
            else { return nil }
            self = .region(actual)
        }
    }
}
