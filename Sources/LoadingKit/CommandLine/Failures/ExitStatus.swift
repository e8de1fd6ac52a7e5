import Foundation
import LoadingKit

/// What the process ends with: curl's number where the cause is the same.
struct ExitStatus: RawRepresentable, Hashable, Sendable {
    let rawValue: Int32

    static let success = ExitStatus(rawValue: 0)
    static let unsupportedProtocol = ExitStatus(rawValue: 1)
    static let usage = ExitStatus(rawValue: 2)
    static let malformedURL = ExitStatus(rawValue: 3)
    static let couldNotResolve = ExitStatus(rawValue: 6)
    static let couldNotConnect = ExitStatus(rawValue: 7)
    static let weirdReply = ExitStatus(rawValue: 8)
    static let partialFile = ExitStatus(rawValue: 18)
    static let httpError = ExitStatus(rawValue: 22)
    static let writeError = ExitStatus(rawValue: 23)
    static let readError = ExitStatus(rawValue: 26)
    static let timedOut = ExitStatus(rawValue: 28)
    static let rangeError = ExitStatus(rawValue: 33)
    static let tlsHandshake = ExitStatus(rawValue: 35)
    static let couldNotReadFile = ExitStatus(rawValue: 37)
    static let aborted = ExitStatus(rawValue: 42)
    static let tooManyRedirects = ExitStatus(rawValue: 47)
    static let gotNothing = ExitStatus(rawValue: 52)
    static let receiveFailure = ExitStatus(rawValue: 56)
    static let clientCertificate = ExitStatus(rawValue: 58)
    static let certificate = ExitStatus(rawValue: 60)
    static let badContentEncoding = ExitStatus(rawValue: 61)
    static let tooLarge = ExitStatus(rawValue: 63)
    static let bodyCannotRewind = ExitStatus(rawValue: 65)
    static let loginDenied = ExitStatus(rawValue: 67)
    static let badAuthorityFile = ExitStatus(rawValue: 77)
}

extension ExitStatus {
    private static let statuses: [URLError.Code: ExitStatus] = [
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

    /// - Parameter hadResponse: whether the response's head had come. What breaks off after it leaves part of a body.
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

    /// A connection that was reset and one that was closed have the same code, and differ in what the system said.
    private static func isReset(_ error: URLError) -> Bool {
        error.localizedDescription.range(of: String(cString: strerror(ECONNRESET)), options: .caseInsensitive) != nil
    }
}
