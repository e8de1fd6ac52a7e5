import Foundation

/// A message of a background session to the performer of its transfers.
package enum TransferCommand: Codable, Sendable {
    /// A transfer that is kept in the journal when the command was performed, and begins then.
    case begin(TransferRecord)
    case suspend(Int)
    case resume(Int)
    /// The transfer ends with `URLError.cancelled`; with resume data in the error where that is asked for and can be had.
    case cancel(Int, producingResumeData: Bool)
    /// The properties that the program can change after a task has begun.
    case change(Int, priority: Float, taskDescription: String?)
    /// The program has taken a part of a transfer's end. With the last part the transfer is over.
    case take(Int, TransferStanding.Part)
    /// The answer to a ``TransferEvent/willBegin(_:)``: what to load, or nil to cancel.
    case answerBeginning(Int, TransferRequest?)
    /// The answer to a ``TransferEvent/challenge(_:_:_:)``.
    case answerChallenge(Int, challenge: Int, ChallengeReply)
    /// Forgets the session when its transfers are over and taken.
    case endSession
    /// Makes new connections from now on, and empties the session's stores.
    case reset
}

/// A message of the performer of a background session's transfers to the session.
package enum TransferEvent: Codable, Sendable {
    /// The session is attached, alone: what there is from before. Ends that the program has not taken follow, in their order.
    case attached(SessionState)
    /// The session cannot be attached, or no longer is.
    case detached(TransferError)
    case progress(Int, TransferProgress)
    /// A download goes on where it was broken off, by the program's resume data.
    case didResume(Int, offset: Int64, expected: Int64)
    case response(Int, TransferResponse)
    /// The transfer was redirected, and loads this now.
    case redirected(Int, TransferRequest)
    /// The transfer's date has come; it begins when that is answered.
    case willBegin(Int)
    case challenge(Int, challenge: Int, TransferChallenge)
    case ended(Int, TransferStanding)
    /// All ends that there were when the session was attached were given out.
    case deliveredEarlierEvents
}

/// The state of a session's transfers when the session is attached.
package struct SessionState: Codable, Sendable {
    /// Higher than that of any transfer that the session ever had.
    package var nextIdentifier: Int
    /// Those that are not over, or not yet taken, in the order of their identifiers.
    package var transfers: [TransferRecord]

    package init(nextIdentifier: Int, transfers: [TransferRecord]) {
        (self.nextIdentifier, self.transfers) = (nextIdentifier, transfers)
    }
}

/// An authentication challenge for a program's delegate.
package struct TransferChallenge: Codable, Sendable {
    package var host: String
    package var port: Int
    package var isProxy: Bool
    /// The server's protocol, or the proxy's type.
    package var scheme: String?
    package var realm: String?
    package var method: String
    package var distinguishedNames: [Data]?
    /// The server's certificates in DER, its own first, where the method is that of server trust.
    package var certificates: [Data]?
    /// The server's stapled OCSP response.
    package var ocspResponse: Data?
    package var proposedUser: String?
    package var previousFailureCount: Int
    package var failureResponse: TransferResponse?

    package init(_ challenge: URLAuthenticationChallenge) {
        let space = challenge.protectionSpace
        host = space.host
        port = space.port
        isProxy = space.isProxy()
        scheme = space.isProxy() ? space.proxyType : space.protocol
        realm = space.realm
        method = space.authenticationMethod
        distinguishedNames = space.distinguishedNames
        certificates = space.serverTrust?.certificates.map(\.derRepresentation)
        ocspResponse = space.serverTrust?.ocspResponse
        proposedUser = challenge.proposedCredential?.user
        previousFailureCount = challenge.previousFailureCount
        failureResponse = challenge.failureResponse.flatMap { TransferResponse($0) }
    }
}

/// A program's answer to a challenge.
package struct ChallengeReply: Codable, Sendable {
    package var disposition: Int
    package var user: String?
    package var password: String?
    package var persistence: UInt?
    /// Whether the credential trusts the server whose certificates the challenge had.
    package var trustsServer: Bool
    /// A client's certificate, its key and intermediates, in PEM. Never kept.
    package var identity: String?

    package init(
        _ disposition: URLSession.AuthChallengeDisposition, user: String? = nil, password: String? = nil,
        persistence: URLCredential.Persistence? = nil, trustsServer: Bool = false, identity: String? = nil
    ) {
        (self.disposition, self.persistence) = (disposition.rawValue, persistence?.rawValue)
        (self.user, self.password, self.trustsServer, self.identity) = (user, password, trustsServer, identity)
    }
}
