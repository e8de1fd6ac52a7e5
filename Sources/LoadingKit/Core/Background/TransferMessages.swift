import Foundation

/// A message of a background session to the performer of its transfers.
package enum TransferCommand: Codable, Sendable {
    /// Adds a transfer to the journal, and begins it.
    case begin(TransferRecord)
    case suspend(Int)
    case resume(Int)
    /// Ends the transfer with `URLError.cancelled`. The error has resume data where they are requested and possible.
    case cancel(Int, producingResumeData: Bool)
    /// Sets the properties that the program can change after a task has begun.
    case change(Int, priority: Float, taskDescription: String?)
    /// The program has taken a part of a transfer's end. After the last part, the journal forgets the transfer.
    case take(Int, TransferStatus.Part)
    /// The answer to a ``TransferEvent/willBegin(_:)``: the request to load, or nil to cancel.
    case answerBeginning(Int, TransferRequest?)
    /// The answer to a ``TransferEvent/challenge(_:_:_:)``.
    case answerChallenge(Int, challenge: Int, ChallengeReply)
    /// Ends the session when the program has taken the ends of all its transfers.
    case endSession
    /// Closes the session's connections, and empties its stores.
    case reset
    /// Closes the session's connections, and writes its stores to disk. An older daemon answers with an error, and
    /// changes nothing.
    case flush
}

/// A message of the performer of a background session's transfers to the session.
package enum TransferEvent: Codable, Sendable {
    /// The session is attached, and no other session has its identifier. The ends of earlier transfers that the program
    /// has not taken follow, in order.
    case attached(SessionState)
    /// The session cannot be attached, or is no longer attached.
    case detached(TransferError)
    case progress(Int, TransferProgress)
    /// A download continues from the program's resume data.
    case didResume(Int, offset: Int64, expected: Int64)
    case response(Int, TransferResponse)
    /// The transfer was redirected to this request, which has no body.
    case redirected(Int, TransferRequest)
    /// The transfer's begin date has come. The transfer begins when the program has answered.
    case willBegin(Int)
    case challenge(Int, challenge: Int, TransferChallenge)
    case ended(Int, TransferStatus)
    /// All ends that existed when the session was attached were sent.
    case deliveredEarlierEvents
}

/// The state of a session's transfers when the session is attached.
package struct SessionState: Codable, Sendable {
    /// Higher than the identifier of every transfer that the session has had.
    package var nextIdentifier: Int
    /// The transfers that have not ended, or whose end the program has not taken, in the order of their identifiers.
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
    /// A client's certificate, its key and its intermediates, in PEM. It is never stored.
    package var identity: String?
    /// The paths of the files with the certificate and the key, which the identity follows. `password` is the key's.
    package var identityFiles: [String]?
    /// Whether a method of the program's delegates gave the answer, also where it chose the default handling. Nil from
    /// programs with an earlier version.
    package var isFromDelegate: Bool?
}
