#if Telemetry
    import Foundation
    import LoadingKit
    import Tracing

    /// The outcome of an attempt.
    enum AttemptOutcome: Sendable {
        /// The complete response was received.
        case response(status: Int?)
        /// The response redirects, and another request is loaded instead.
        case redirect(status: Int?)
        /// The attempt failed, before or after the response's head.
        case failure(any Error, status: Int?)

        var status: Int? {
            switch self {
            case .response(let status), .redirect(let status), .failure(_, let status): status
            }
        }

        /// The attribute `error.type`: the class of a failure, otherwise a status of 400 or more; nil for a success.
        var errorType: String? {
            switch self {
            case .response(let status): status.flatMap { $0 >= 400 ? String($0) : nil }
            case .redirect: nil
            case .failure(let error, _): ErrorType.name(of: error)
            }
        }

        /// For a client's span, statuses of 400 and more are errors. They have no description, because the status gives
        /// the reason.
        var spanStatus: SpanStatus? {
            switch self {
            case .failure(let error, _): SpanStatus(code: .error, message: ErrorType.description(of: error))
            case .response, .redirect: errorType.map { _ in SpanStatus(code: .error) }
            }
        }

        var attributes: SpanAttributes {
            var attributes: SpanAttributes = [:]
            if let status { attributes["http.response.status_code"] = status }
            attributes["error.type"] = errorType
            return attributes
        }
    }

    /// The attributes of an error: few different names, and no secrets.
    enum ErrorType {
        /// `URLError.` and the name of its code, otherwise the name of the error's type.
        static func name(of error: any Error) -> String {
            guard let error = error as? URLError else { return String(reflecting: type(of: error)) }
            return name(of: error.code)
        }

        static func name(of code: URLError.Code) -> String {
            names[code].map { "URLError.\($0)" } ?? "URLError.\(code.rawValue)"
        }

        /// The error's own description, where it does not contain a URL, which may have secrets.
        static func description(of error: any Error) -> String {
            guard error is URLError else { return name(of: error) }
            let text = error.localizedDescription
            return text.isEmpty || text.contains("://") ? name(of: error) : String(text.prefix(256))
        }

        private static let names: [URLError.Code: String] = [
            .appTransportSecurityRequiresSecureConnection: "appTransportSecurityRequiresSecureConnection",
            .badServerResponse: "badServerResponse", .badURL: "badURL", .callIsActive: "callIsActive",
            .cancelled: "cancelled", .cannotConnectToHost: "cannotConnectToHost",
            .cannotCreateFile: "cannotCreateFile", .cannotDecodeContentData: "cannotDecodeContentData",
            .cannotDecodeRawData: "cannotDecodeRawData", .cannotFindHost: "cannotFindHost",
            .cannotLoadFromNetwork: "cannotLoadFromNetwork", .cannotOpenFile: "cannotOpenFile",
            .cannotParseResponse: "cannotParseResponse", .cannotWriteToFile: "cannotWriteToFile",
            .clientCertificateRejected: "clientCertificateRejected",
            .clientCertificateRequired: "clientCertificateRequired",
            .dataLengthExceedsMaximum: "dataLengthExceedsMaximum",
            .dataNotAllowed: "dataNotAllowed", .dnsLookupFailed: "dnsLookupFailed",
            .fileDoesNotExist: "fileDoesNotExist", .fileIsDirectory: "fileIsDirectory",
            .httpTooManyRedirects: "httpTooManyRedirects", .networkConnectionLost: "networkConnectionLost",
            .noPermissionsToReadFile: "noPermissionsToReadFile", .notConnectedToInternet: "notConnectedToInternet",
            .redirectToNonExistentLocation: "redirectToNonExistentLocation",
            .requestBodyStreamExhausted: "requestBodyStreamExhausted", .resourceUnavailable: "resourceUnavailable",
            .secureConnectionFailed: "secureConnectionFailed",
            .serverCertificateHasBadDate: "serverCertificateHasBadDate",
            .serverCertificateHasUnknownRoot: "serverCertificateHasUnknownRoot",
            .serverCertificateNotYetValid: "serverCertificateNotYetValid",
            .serverCertificateUntrusted: "serverCertificateUntrusted", .timedOut: "timedOut", .unknown: "unknown",
            .unsupportedURL: "unsupportedURL", .userAuthenticationRequired: "userAuthenticationRequired",
            .userCancelledAuthentication: "userCancelledAuthentication", .zeroByteResource: "zeroByteResource",
        ]
    }
#endif
