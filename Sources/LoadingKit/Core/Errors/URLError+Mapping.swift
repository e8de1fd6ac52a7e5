import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Converts the layers' own errors to the `URLError`s that users see; no other code does. An error's code follows from
/// its `category`, which each layer's error defines in its own file (``LayerError``).
extension URLError {
    /// - Parameter url: the URL that failed to load; nil where the request had none.
    package init(_ error: any Error, url: URL?) {
        switch error {
        case let error as URLError where error.userInfo[NSURLErrorFailingURLErrorKey] != nil:
            self = error
        case let error as URLError:
            let said = error.code == .cancelled ? [NSLocalizedDescriptionKey: Self.cancelledText] : [:]
            self.init(error.code, userInfo: Self.userInfo(url, error.userInfo.merging(said) { first, _ in first }))
        case let error as LoadFailure:
            self.init(
                error.code, text: error.description, underlying: error, url: url, unavailability: error.unavailability)
        case let error as any LayerError:
            self.init(
                error.category.urlErrorCode, text: error.description, underlying: error, url: url,
                unavailability: NetworkUnavailableReason(error))
        case is CancellationError:
            self.init(.cancelled, text: Self.cancelledText, underlying: error, url: url)
        case let error as HandlerError:
            self.init(error.error, url: url)
        default:
            if let code = Code(of: error) {
                self.init(code, userInfo: Self.userInfo(url, (error as NSError).userInfo))
            } else {
                self.init(.unknown, text: error.localizedDescription, underlying: error, url: url)
            }
        }
    }

    private init(
        _ code: Code, text: String, underlying: any Error, url: URL?, unavailability: NetworkUnavailableReason? = nil
    ) {
        // The underlying error identifies the cancelled operation.
        let text = code == .cancelled ? Self.cancelledText : text
        var said: [String: Any] = [NSUnderlyingErrorKey: underlying, NSLocalizedDescriptionKey: text]
        if let unavailability { said[NSURLErrorNetworkUnavailableReasonKey] = unavailability.rawValue }
        self.init(code, userInfo: Self.userInfo(url, said))
    }

    /// The same text as on Apple's systems: some programs compare it.
    private static let cancelledText = "cancelled"

    /// The key of `failureURLString`. Its constant is deprecated in favour of the URL's key, but users read both.
    private static let failingURLStringKey = "NSErrorFailingURLStringKey"

    private static func userInfo(_ url: URL?, _ others: [String: Any]) -> [String: Any] {
        guard let url else { return others }
        var all = others
        all[NSURLErrorFailingURLErrorKey] = url
        all[failingURLStringKey] = url.absoluteString
        return all
    }
}

extension URLError.NetworkUnavailableReason {
    /// The reason in an error of the transport; nil for other errors.
    package init?(_ error: any LayerError) {
        switch (error as? TransportError)?.cause {
        case .notAllowed(.cellular, _): self = .cellular
        case .notAllowed(.expensive, _): self = .expensive
        case _: return nil
        }
    }
}

extension URLError.Code {
    /// The codes for a server that could not be reached, or a connection that was lost.
    package static let ofConnection: Set<URLError.Code> = [
        .networkConnectionLost, .timedOut, .cannotConnectToHost, .notConnectedToInternet, .cannotFindHost,
        .dnsLookupFailed,
    ]

    /// The code of an `NSError` of `NSURLErrorDomain`; nil for other errors, and for codes that `URLError` does not
    /// have.
    init?(of error: any Error) {
        let error = error as NSError
        guard error.domain == NSURLErrorDomain else { return nil }
        self.init(rawValue: error.code)
    }
}

extension LayerErrorCategory {
    var urlErrorCode: URLError.Code {
        switch self {
        case .invalidRequest: .badURL
        case .wrongBodyLength: .requestBodyStreamExhausted
        case .noNetwork: .notConnectedToInternet
        case .hostNotFound: .cannotFindHost
        case .nameLookupFailed: .dnsLookupFailed
        case .cannotConnect: .cannotConnectToHost
        case .connectionLost: .networkConnectionLost
        case .timedOut: .timedOut
        case .cancelled: .cancelled
        case .secureConnectionFailed: .secureConnectionFailed
        case .certificateExpired: .serverCertificateHasBadDate
        case .certificateNotYetValid: .serverCertificateNotYetValid
        case .unknownCertificateAuthority: .serverCertificateHasUnknownRoot
        case .untrustedCertificate: .serverCertificateUntrusted
        case .clientCertificateRequired: .clientCertificateRequired
        case .clientCertificateRejected: .clientCertificateRejected
        case .unparsableResponse: .cannotParseResponse
        case .unexpectedResponse: .badServerResponse
        case .tooLong: .dataLengthExceedsMaximum
        case .undecodableContent: .cannotDecodeContentData
        }
    }
}
