import Foundation

/// The correction that an answer requires for a request that can be sent once more in another way. Pure.
enum S3Correction: Hashable, Sendable {
    /// The server's clock differs.
    case clock(serverDate: Date)
    /// The bucket is in another region.
    case region(String)
    /// The temporary credentials have expired.
    case credentials

    /// The kind of correction; each kind is made once for a request.
    enum Kind: Hashable { case clock, region, credentials }

    var kind: Kind {
        switch self {
        case .clock: .clock
        case .region: .region
        case .credentials: .credentials
        }
    }

    /// - Parameters:
    ///   - region: the region of the request's signature.
    ///   - serverDate: the answer's `Date`.
    init?(_ error: S3Error, signedFor region: String, serverDate: Date?) {
        switch error.kind {
        case .clockSkewed:
            guard let serverDate else { return nil }
            self = .clock(serverDate: serverDate)
        case .expiredCredentials: self = .credentials
        default:
            // A 400 or 403 with another region results from a signature for the wrong one; for a HEAD there is no code.
            guard [301, 307, 308, 400, 403].contains(error.statusCode), let actual = error.region, actual != region,
                error.kind == .wrongRegion || error.statusCode == 400
            else { return nil }
            self = .region(actual)
        }
    }
}
