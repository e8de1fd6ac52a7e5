#if Telemetry
    import Foundation

    /// The attributes of an error: few different names, and no secrets.
    enum ErrorType {
        /// `URLError.` and the name of its code, otherwise the name of the error's type.
        static func name(of error: any Error) -> String {
            guard let error = error as? URLError else { return String(reflecting: type(of: error)) }
            return names[error.code].map { "URLError.\($0)" } ?? "URLError.\(error.code.rawValue)"
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
