import Foundation
import LoadingKit

/// A fault of an answer. A load fails with the `URLError` that LoadingKit uses for the real fault, with the URL in its
/// `userInfo` and a text that states that it came from a stub.
public enum StubFault: Sendable, Hashable {
    /// Nothing listens at the server's port: `URLError.cannotConnectToHost`.
    case connectionRefused
    /// The server resets the connection before a byte of the response: `URLError.networkConnectionLost`.
    case connectionReset
    /// No byte arrives within the session's timeout: `URLError.timedOut`. The load fails at once; for a real wait use a
    /// delay longer than `timeoutIntervalForRequest`.
    case timedOut
    /// The server's name has no address: `URLError.cannotFindHost`.
    case hostNotFound
    /// There is no network: `URLError.notConnectedToInternet`.
    case notConnected
    /// The TLS handshake fails: `URLError.secureConnectionFailed`.
    case secureConnectionFailed
    /// No trusted authority has issued the server's certificate: `URLError.serverCertificateHasUnknownRoot`.
    case untrustedCertificate
    /// The server's bytes are not HTTP: `URLError.cannotParseResponse`.
    case malformedResponse
    /// The connection ends after `after` bytes of the body: response and bytes are delivered, and then the load fails
    /// with `URLError.networkConnectionLost`.
    case truncatedBody(after: Int)
    /// The load fails with this code.
    case error(URLError.Code)

    /// The code of the error.
    public var code: URLError.Code {
        switch self {
        case .connectionRefused: .cannotConnectToHost
        case .connectionReset, .truncatedBody: .networkConnectionLost
        case .timedOut: .timedOut
        case .hostNotFound: .cannotFindHost
        case .notConnected: .notConnectedToInternet
        case .secureConnectionFailed: .secureConnectionFailed
        case .untrustedCertificate: .serverCertificateHasUnknownRoot
        case .malformedResponse: .cannotParseResponse
        case .error(let code): code
        }
    }

    /// The number of bytes of the body before the fault; nil where not even the head arrives.
    var bodyBytes: Int? {
        if case .truncatedBody(let count) = self { max(count, 0) } else { nil }
    }

    private var text: String {
        switch self {
        case .connectionRefused: "connection refused: nothing listens there"
        case .connectionReset: "the peer reset the connection"
        case .timedOut: "no byte was sent or received in time"
        case .hostNotFound: "the name was not found"
        case .notConnected: "there is no network"
        case .secureConnectionFailed: "the TLS exchange failed"
        case .untrustedCertificate: "the certificate was not issued by a trusted authority"
        case .malformedResponse: "the response is malformed"
        case .truncatedBody(let count): "the connection was closed after \(max(count, 0)) bytes of the body"
        case .error(let code): "error \(code.rawValue)"
        }
    }

    /// The error with which the load fails. LoadingKit adds the URL.
    var error: URLError { URLError(code, userInfo: [NSLocalizedDescriptionKey: "\(text) (a stub's fault)"]) }
}
