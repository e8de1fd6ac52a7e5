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
        self.init(ToolStatus(error, hadResponse: hadResponse), error.localizedDescription)
    }

    /// The line for standard error; empty where nothing is reported.
    var line: String {
        reason.map { "loadkit: (\(status.rawValue)) \(PlainText.line($0))\n" } ?? ""
    }
}

/// The exit status of the process: curl's number where the cause is the same.
struct ToolStatus: RawRepresentable, Hashable, Sendable {
    let rawValue: Int32

    static let success = ToolStatus(rawValue: 0)
    static let unsupportedProtocol = ToolStatus(rawValue: 1)
    static let usage = ToolStatus(rawValue: 2)
    static let malformedURL = ToolStatus(rawValue: 3)
    static let couldNotResolve = ToolStatus(rawValue: 6)
    static let couldNotConnect = ToolStatus(rawValue: 7)
    static let weirdReply = ToolStatus(rawValue: 8)
    static let partialFile = ToolStatus(rawValue: 18)
    static let httpError = ToolStatus(rawValue: 22)
    static let writeError = ToolStatus(rawValue: 23)
    static let readError = ToolStatus(rawValue: 26)
    static let timedOut = ToolStatus(rawValue: 28)
    static let rangeError = ToolStatus(rawValue: 33)
    static let tlsHandshake = ToolStatus(rawValue: 35)
    static let couldNotReadFile = ToolStatus(rawValue: 37)
    static let aborted = ToolStatus(rawValue: 42)
    static let tooManyRedirects = ToolStatus(rawValue: 47)
    static let gotNothing = ToolStatus(rawValue: 52)
    static let receiveFailure = ToolStatus(rawValue: 56)
    static let clientCertificate = ToolStatus(rawValue: 58)
    static let certificate = ToolStatus(rawValue: 60)
    static let badContentEncoding = ToolStatus(rawValue: 61)
    static let tooLarge = ToolStatus(rawValue: 63)
    static let bodyCannotRewind = ToolStatus(rawValue: 65)
    static let loginDenied = ToolStatus(rawValue: 67)
    static let badAuthorityFile = ToolStatus(rawValue: 77)
}

extension ToolStatus {
    private static let statuses: [URLError.Code: ToolStatus] = [
        .unsupportedURL: .unsupportedProtocol,
        .badURL: .malformedURL,
        .redirectToNonExistentLocation: .unsupportedProtocol,
        .appTransportSecurityRequiresSecureConnection: .unsupportedProtocol,
        .cannotFindHost: .couldNotResolve,
        .dnsLookupFailed: .couldNotResolve,
        .cannotConnectToHost: .couldNotConnect,
        .notConnectedToInternet: .couldNotConnect,
        .timedOut: .timedOut,
        .cancelled: .aborted,
        .httpTooManyRedirects: .tooManyRedirects,
        .secureConnectionFailed: .tlsHandshake,
        .serverCertificateHasBadDate: .certificate,
        .serverCertificateNotYetValid: .certificate,
        .serverCertificateHasUnknownRoot: .certificate,
        .serverCertificateUntrusted: .certificate,
        .clientCertificateRejected: .clientCertificate,
        .clientCertificateRequired: .clientCertificate,
        .cannotDecodeContentData: .badContentEncoding,
        .cannotDecodeRawData: .badContentEncoding,
        .dataLengthExceedsMaximum: .tooLarge,
        .requestBodyStreamExhausted: .bodyCannotRewind,
        .userAuthenticationRequired: .loginDenied,
        .userCancelledAuthentication: .loginDenied,
        .badServerResponse: .weirdReply,
        .resourceUnavailable: .rangeError,
        .zeroByteResource: .gotNothing,
        .fileDoesNotExist: .couldNotReadFile,
        .fileIsDirectory: .couldNotReadFile,
        .noPermissionsToReadFile: .couldNotReadFile,
        .cannotOpenFile: .couldNotReadFile,
    ]

    /// - Parameter hadResponse: whether the response's head had arrived. A later interruption leaves a partial body.
    init(_ error: URLError, hadResponse: Bool) {
        if let status = Self.statuses[error.code] {
            self = status
        } else if error.code == .networkConnectionLost {
            self = hadResponse ? .partialFile : Self.isReset(error) ? .receiveFailure : .gotNothing
        } else if error.code == .cannotParseResponse {
            self = hadResponse ? .receiveFailure : .weirdReply
        } else {
            self = .receiveFailure
        }
    }

    /// A reset connection and a closed one have the same code, and differ in the system's error.
    private static func isReset(_ error: URLError) -> Bool {
        error.localizedDescription.range(of: String(cString: strerror(ECONNRESET)), options: .caseInsensitive) != nil
    }
}
