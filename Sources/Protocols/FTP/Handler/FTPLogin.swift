import Foundation
import LoadingKitCore
import LoadingKitFTP

/// The user name and password of a load, and its authentication challenges.
///
/// The user name comes from the URL; otherwise from the program's credential that the server accepted before; otherwise
/// from the credential storage's default credential; otherwise it is `anonymous`.
struct FTPLogin {
    /// The user's name and password; nil for `anonymous`. Some users need no password.
    private var named: (user: String, password: String?)?
    /// The credential with which the program answered a challenge. It is stored once the server has accepted it.
    private(set) var credentialOfProgram: URLCredential?
    private var failureCount = 0

    init(_ request: FTPRequest, _ session: FTPSession) {
        let storage = session.settings.credentialStorage
        let space = request.server.protectionSpace
        let accepted = session.accepted[request.server]
        if let user = request.url.user(percentEncoded: false), !user.isEmpty {
            let known = accepted?.user == user ? accepted?.password : nil
            let given = request.url.password(percentEncoded: false)
            named = (user, given ?? known ?? storage?.credentials(for: space)?[user]?.password)
        } else if let known = accepted ?? storage?.defaultCredential(for: space), let user = known.user {
            named = (user, known.password)
        }
    }

    var user: String { named?.user ?? "anonymous" }
    /// The password; nil if it is not known.
    var password: String? { if let named { named.password } else { "ftp@example.com" } }

    /// The challenge for the program after the server has refused the user, or has required a password that is not
    /// known.
    mutating func challenge(after refusal: FTPRefusal?, _ server: FTPServer) -> URLAuthenticationChallenge {
        // The server refused the program's or the URL's user, not `anonymous`.
        if refusal != nil, named != nil { failureCount += 1 }
        credentialOfProgram = nil
        let proposed = named.flatMap { named in
            named.password.map { URLCredential(user: named.user, password: $0, persistence: .none) }
        }
        return URLAuthenticationChallenge(
            protectionSpace: server.protectionSpace, proposedCredential: proposed, previousFailureCount: failureCount,
            failureResponse: nil, error: refusal)
    }

    /// Applies the program's answer to a challenge. Throws an error if the answer names no user.
    mutating func settle(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, after refusal: FTPRefusal?
    ) throws(LoadFailure) {
        switch disposition {
        case .useCredential:
            guard let credential, let user = credential.user else { break }
            (named, credentialOfProgram) = ((user, credential.password ?? ""), credential)
            return
        // The server has refused the proposed credential.
        case .performDefaultHandling, .rejectProtectionSpace: break
        case .cancelAuthenticationChallenge:
            throw LoadFailure(
                .userCancelledAuthentication, "the program cancelled the server's authentication challenge")
        }
        if let refusal { throw LoadFailure(refusal) }
        throw LoadFailure(
            .userAuthenticationRequired,
            "the server wants the user's password, and the URL, the credential storage and the "
                + "task's delegate have none")
    }
}

extension LoadFailure {
    /// Converts a server's refusal to the error that the program receives.
    init(_ refusal: FTPRefusal) {
        let code: URLError.Code =
            switch refusal.kind {
            case .serviceUnavailable, .dataConnection: .cannotConnectToHost
            case .login, .account: .userAuthenticationRequired
            case .security: .secureConnectionFailed
            case .noSuchFile: .fileDoesNotExist
            case .noPermission: .noPermissionsToReadFile
            case .isDirectory: .fileIsDirectory
            case .cannotWrite: .cannotCreateFile
            case .noSpace: .cannotWriteToFile
            case .interrupted: .networkConnectionLost
            case .notImplemented, .unexpectedReply: .badServerResponse
            }
        self.init(code, refusal.description)
    }
}
