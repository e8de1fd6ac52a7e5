import Foundation
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitTransport
import LoadingKitWebSocket

/// The one place where the layers' own errors become the `URLError`s that users see.
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
            self.init(error.code, text: error.description, underlying: error, url: url)
        case let error as TransportError:
            self.init(
                error.urlErrorCode, text: error.description, underlying: error, url: url,
                others: error.unavailability.map { [Self.unavailabilityKey: $0] } ?? [:])
        case let error as HTTP1Error:
            self.init(error.urlErrorCode, text: error.description, underlying: error, url: url)
        case let error as HTTP2Error:
            self.init(error.urlErrorCode, text: error.description, underlying: error, url: url)
        case let error as WebSocketError:
            self.init(error.urlErrorCode, text: error.description, underlying: error, url: url)
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

    private init(_ code: Code, text: String, underlying: any Error, url: URL?, others: [String: Any] = [:]) {
        // Whatever was cancelled: the underlying error says what.
        let text = code == .cancelled ? Self.cancelledText : text
        let said: [String: Any] = [NSUnderlyingErrorKey: underlying, NSLocalizedDescriptionKey: text]
        self.init(code, userInfo: Self.userInfo(url, others.merging(said) { $1 }))
    }

    /// As on Apple's systems: there are programs that compare it.
    private static let cancelledText = "cancelled"

    /// The key of Apple's `networkUnavailableReason`: 0 for cellular, 1 for expensive.
    private static let unavailabilityKey = "NSURLErrorNetworkUnavailableReasonKey"

    /// The key of `failureURLString`, whose constant is deprecated in favour of the URL's, though users read both.
    private static let failingURLStringKey = "NSErrorFailingURLStringKey"

    private static func userInfo(_ url: URL?, _ others: [String: Any]) -> [String: Any] {
        guard let url else { return others }
        var all = others
        all[NSURLErrorFailingURLErrorKey] = url
        all[failingURLStringKey] = url.absoluteString
        return all
    }
}

extension URLError.Code {
    /// The code of an `NSError` of `NSURLErrorDomain`; nil for other errors, and for codes that no `URLError` has.
    init?(of error: any Error) {
        let error = error as NSError
        guard error.domain == NSURLErrorDomain else { return nil }
        self.init(rawValue: error.code)
    }
}

extension TransportError {
    fileprivate var urlErrorCode: URLError.Code {
        switch cause {
        case .nameNotFound, .noAddresses: Networks.exist ? .cannotFindHost : .notConnectedToInternet
        case .resolverFailed: Networks.exist ? .dnsLookupFailed : .notConnectedToInternet
        case .notAllowed: .notConnectedToInternet
        case .systemCall(.connect, ENETUNREACH), .systemCall(.connect, ENETDOWN), .systemCall(.connect, EHOSTUNREACH),
            .systemCall(.connect, EADDRNOTAVAIL):
            .notConnectedToInternet
        case .timedOut: .timedOut
        case .cancelled: .cancelled
        case .refused, .configuration: .cannotConnectToHost
        case .certificate(let failure): failure.urlErrorCode
        case .alert(let alert, let use): alert.urlErrorCode(use)
        case .handshake, .plainTextPeer: .secureConnectionFailed
        case .truncated: .networkConnectionLost
        case .systemCall:
            switch phase {
            case .resolve, .connect: .cannotConnectToHost
            case .tls: .secureConnectionFailed
            case .read, .write: .networkConnectionLost
            }
        }
    }
}

extension TLSAlert {
    /// Before TLS 1.3 there is no alert that says that a certificate is missing: a server that asked for one and got none
    /// says that the handshake failed.
    fileprivate func urlErrorCode(_ use: ClientCertificateUse) -> URLError.Code {
        switch use {
        case .notAsked: wantsCertificate ? .clientCertificateRequired : .secureConnectionFailed
        case .notSent:
            wantsCertificate || isAboutCertificate || isHandshakeFailure
                ? .clientCertificateRequired : .secureConnectionFailed
        case .sent:
            isAboutCertificate || isHandshakeFailure || wantsCertificate
                ? .clientCertificateRejected : .secureConnectionFailed
        }
    }
}

extension TransportError {
    fileprivate var unavailability: Int? {
        switch cause {
        case .notAllowed(.cellular, _): 0
        case .notAllowed(.expensive, _): 1
        case _: nil
        }
    }
}

extension CertificateFailure {
    var urlErrorCode: URLError.Code {
        switch reason {
        case .expired: .serverCertificateHasBadDate
        case .notYetValid: .serverCertificateNotYetValid
        case .unknownAuthority: .serverCertificateHasUnknownRoot
        case .selfSigned, .hostMismatch, .revoked, .weak, .refused, .other: .serverCertificateUntrusted
        }
    }
}

extension HTTP1Error {
    fileprivate var urlErrorCode: URLError.Code {
        switch kind {
        case .closedEarly: .networkConnectionLost
        case .malformedRequestLine, .invalidHost, .invalidTarget, .connectionBusy, .connectionClosed, .noBodyExpected,
            .trailersNeedChunked, .lengthAndTransferEncoding:
            .badURL
        case .bodyTooLong, .bodyTooShort: .requestBodyStreamExhausted
        case .malformedStatusLine, .unsupportedVersion, .invalidFieldName, .invalidFieldValue, .obsoleteLineFolding,
            .malformedContentLength, .conflictingContentLength, .invalidTransferEncoding, .headTooLarge,
            .startLineTooLong, .tooManyFields, .tooManyInterimResponses, .invalidChunkSize, .chunkSizeOverflow,
            .chunkExtensionTooLong, .missingChunkEnd, .unexpectedBytes:
            .cannotParseResponse
        }
    }
}

extension HTTP2Error {
    fileprivate var urlErrorCode: URLError.Code {
        switch scope {
        case .connection, .stream: .cannotParseResponse
        case .call: .badURL
        }
    }
}

extension WebSocketError {
    fileprivate var urlErrorCode: URLError.Code {
        switch kind {
        case .missingUpgrade, .wrongAccept, .unofferedProtocol, .unofferedExtension, .malformedExtension:
            .badServerResponse
        case .messageTooBig, .outOfMemory: .dataLengthExceedsMaximum
        case .invalidUTF8, .corruptCompression: .cannotDecodeContentData
        case .closedEarly, .closing: .networkConnectionLost
        case .reservedBits, .unknownOpcode, .controlFrameInFragments, .controlFrameTooLong, .masked, .unmasked,
            .wastefulLength, .impossibleLength, .continuationOfNothing, .messageInMessage, .malformedClose,
            .invalidCloseCode, .emptyFrameFlood, .controlPayloadTooLong:
            .cannotParseResponse
        }
    }
}
