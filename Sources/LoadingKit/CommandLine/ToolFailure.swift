import Foundation
import LoadingKit

/// The reason why the tool, or one of its loads, ends without success.
struct ToolFailure: Error, Hashable {
    let status: ToolStatus
    /// The reason in plain words; nil where nothing is reported, for example when the reader of the output has closed
    /// the pipe.
    let reason: String?

    init(_ status: ToolStatus, _ reason: String?) {
        self.status = status
        self.reason = reason
    }

    /// The failure of a load.
    init(_ error: any Error, hadResponse: Bool) {
        let error = error as? URLError ?? URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])
        self.init(ToolStatus(error, hadResponse: hadResponse), ToolWords.text(error.localizedDescription))
    }

    /// The line for standard error; empty where nothing is reported.
    var line: String {
        reason.map { "loadkit: (\(status.rawValue)) \(PlainText.line($0))\n" } ?? ""
    }
}

/// The exit status of the process: curl's number where the cause is the same.
enum ToolStatus: Int32, Sendable {
    case success = 0
    case unsupportedProtocol, usage, malformedURL
    case notBuiltIn
    case couldNotResolveProxy, couldNotResolve
    case couldNotConnect, weirdReply
    case remoteAccessDenied
    case partialFile = 18
    case httpError = 22
    case writeError
    case uploadFailed = 25
    case readError
    case timedOut = 28
    case rangeError = 33
    case tlsHandshake = 35
    case couldNotReadFile = 37
    case aborted = 42
    case interfaceFailed = 45
    case tooManyRedirects = 47
    case gotNothing = 52
    case receiveFailure = 56
    case clientCertificate = 58
    case cipher, certificate
    case badContentEncoding
    case tooLarge = 63
    case bodyCannotRewind = 65
    case loginDenied = 67
    case badAuthorityFile = 77
    case remoteFileNotFound
    case pinnedKey = 90

    /// - Parameter hadResponse: whether the response's head had arrived. A later interruption leaves a partial body.
    init(_ error: URLError, hadResponse: Bool) {
        if let refusal = Self.ofRefusedFTP(error) {
            self = refusal
            return
        }
        self =
            switch error.code {
            case .unsupportedURL, .redirectToNonExistentLocation, .appTransportSecurityRequiresSecureConnection:
                .unsupportedProtocol
            case .badURL: .malformedURL
            case .cannotFindHost, .dnsLookupFailed: .couldNotResolve
            case .cannotConnectToHost where Self.isOf("(requiredInterface)", error): .interfaceFailed
            case .cannotConnectToHost where Self.isOf("(tlsCipher", error): .cipher
            case .cannotConnectToHost where Self.isOfProxysName(error): .couldNotResolveProxy
            case .notConnectedToInternet where Self.isOfProxysName(error): .couldNotResolveProxy
            case .cannotConnectToHost, .notConnectedToInternet: .couldNotConnect
            case .timedOut: .timedOut
            case .cancelled: .aborted
            case .httpTooManyRedirects: .tooManyRedirects
            case .secureConnectionFailed: .tlsHandshake
            case .serverCertificateHasBadDate, .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot,
                .serverCertificateUntrusted:
                .certificate
            case .clientCertificateRejected, .clientCertificateRequired: .clientCertificate
            case .cannotDecodeContentData, .cannotDecodeRawData: .badContentEncoding
            case .dataLengthExceedsMaximum: .tooLarge
            case .requestBodyStreamExhausted: .bodyCannotRewind
            case .userAuthenticationRequired, .userCancelledAuthentication: .loginDenied
            case .badServerResponse: .weirdReply
            case .resourceUnavailable: .rangeError
            case .zeroByteResource: .gotNothing
            case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotOpenFile: .couldNotReadFile
            case .networkConnectionLost:
                hadResponse ? .partialFile : Self.isReset(error) ? .receiveFailure : .gotNothing
            case .cannotParseResponse: hadResponse ? .receiveFailure : .weirdReply
            default: .receiveFailure
            }
    }

    /// The status of a command that an ftp server has refused; nil for other errors.
    private static func ofRefusedFTP(_ error: URLError) -> ToolStatus? {
        guard ["ftp", "ftps"].contains(error.failingURL?.scheme?.lowercased()) else { return nil }
        func isAnswer(to command: String) -> Bool { isOf("the server's answer to \(command)", error) }
        switch error.code {
        case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotCreateFile, .cannotWriteToFile:
            if isAnswer(to: "CWD ") || isAnswer(to: "MKD ") { return .remoteAccessDenied }
            if isAnswer(to: "STOR ") || isAnswer(to: "APPE ") { return .uploadFailed }
            return isAnswer(to: "") ? .remoteFileNotFound : nil
        default: return nil
        }
    }

    /// Whether a proxy's name was not found.
    private static func isOfProxysName(_ error: URLError) -> Bool {
        error.localizedDescription.hasPrefix("The proxy ") && isOf(": Looking up ", error)
    }

    /// Whether the error is about a setting of the session.
    private static func isOf(_ setting: String, _ error: URLError) -> Bool {
        error.localizedDescription.contains(setting)
    }

    /// A reset connection and a closed one have the same code, and differ in the system's error.
    private static func isReset(_ error: URLError) -> Bool {
        error.localizedDescription.range(of: String(cString: strerror(ECONNRESET)), options: .caseInsensitive) != nil
    }
}
