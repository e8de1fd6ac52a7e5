import Foundation
import LoadingKitCore
import LoadingKitFTP

/// As whom a load logs in, and what the program was asked about that.
///
/// The user is that of the URL, else the one that the program gave the server before, else that of the credential storage, else
/// `anonymous`.
struct FTPLogin {
    private(set) var user = "anonymous"
    /// Nil where none is known: some users need none.
    private(set) var password: String? = "ftp@example.com"
    /// What the program answered a challenge with, which is kept once it was accepted.
    private(set) var credentialOfProgram: URLCredential?
    private var failureCount = 0
    private var isAnonymous = true

    init(_ request: FTPRequest, _ session: FTPSession) {
        let storage = session.settings.credentialStorage
        let space = request.server.protectionSpace
        let accepted = session.accepted[request.server]
        if let user = request.user, !user.isEmpty {
            isAnonymous = false
            self.user = user
            password =
                request.password ?? (accepted?.user == user ? accepted?.password : nil)
                ?? storage?.credentials(for: space)?[user]?.password
        } else if let known = accepted ?? storage?.defaultCredential(for: space), let user = known.user {
            isAnonymous = false
            self.user = user
            password = known.password
        }
    }

    /// What the program is asked after the server has refused the user, or has asked for a password that is not known.
    mutating func challenge(after refusal: FTPRefusal?, _ server: FTPServer) -> URLAuthenticationChallenge {
        // The server refused what a program chose, or the URL.
        if refusal != nil, !isAnonymous { failureCount += 1 }
        credentialOfProgram = nil
        let proposed = isAnonymous ? nil : password.map { URLCredential(user: user, password: $0, persistence: .none) }
        return URLAuthenticationChallenge(
            protectionSpace: server.protectionSpace, proposedCredential: proposed, previousFailureCount: failureCount,
            failureResponse: nil, error: refusal)
    }

    /// The program's answer: the user, or an error where it names none.
    mutating func settle(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, after refusal: FTPRefusal?
    ) throws(LoadFailure) {
        switch disposition {
        case .useCredential:
            guard let credential, let user = credential.user else { break }
            (self.user, password, credentialOfProgram) = (user, credential.password ?? "", credential)
            isAnonymous = false
            return
        // What is proposed was refused.
        case .performDefaultHandling, .rejectProtectionSpace: break
        case .cancelAuthenticationChallenge:
            throw LoadFailure(
                .userCancelledAuthentication, "the program cancelled the server's authentication challenge")
        }
        throw refusal.map(LoadFailure.init)
            ?? LoadFailure(
                .userAuthenticationRequired,
                "the server wants the user's password, and the URL, the credential storage and the "
                    + "task's delegate have none")
    }
}
