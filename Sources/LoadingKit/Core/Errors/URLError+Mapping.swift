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
            self.init(error.code, userInfo: Self.userInfo(url, error.userInfo))
        case let error as LoadFailure:
            self.init(error.code, text: error.description, underlying: error, url: url)
        case let error as TransportError:
            self.init(error.urlErrorCode, text: error.description, underlying: error, url: url)
        case let error as HTTP1Error:
            self.init(error.urlErrorCode, text: error.description, underlying: error, url: url)
        case let error as HTTP2Error:
            self.init(error.urlErrorCode, text: error.description, underlying: error, url: url)
        case let error as WebSocketError:
            self.init(error.urlErrorCode, text: error.description, underlying: error, url: url)
        case is CancellationError:
            self.init(.cancelled, text: "cancelled", underlying: error, url: url)
        default:
            self.init(.unknown, text: error.localizedDescription, underlying: error, url: url)
        }
    }

    private init(_ code: Code, text: String, underlying: any Error, url: URL?) {
        self.init(
            code,
            userInfo: Self.userInfo(url, [NSUnderlyingErrorKey: underlying, NSLocalizedDescriptionKey: text]))
    }

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

extension TransportError {
    fileprivate var urlErrorCode: URLError.Code {
        switch cause {
        case .nameNotFound, .noAddresses: .cannotFindHost
        case .resolverFailed: .dnsLookupFailed
        case .timedOut: .timedOut
        case .cancelled: .cancelled
        case .refused, .configuration: .cannotConnectToHost
        case .certificate(let failure): failure.urlErrorCode
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

extension CertificateFailure {
    fileprivate var urlErrorCode: URLError.Code {
        switch reason {
        case .expired: .serverCertificateHasBadDate
        case .notYetValid: .serverCertificateNotYetValid
        case .unknownAuthority: .serverCertificateHasUnknownRoot
        case .selfSigned, .hostMismatch, .revoked, .other: .serverCertificateUntrusted
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
