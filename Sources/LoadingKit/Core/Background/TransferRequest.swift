import Foundation
import LoadingKitPrimitives

/// A request as it is kept in the journal of background sessions, and sent to another process: all of a ``URLRequest`` but a
/// stream, which cannot be kept.
///
/// A later version may add properties. They are optional, so that each version reads what another has written.
package struct TransferRequest: Codable, Hashable, Sendable {
    package var url: String
    package var method: String
    package var fields: TransferFields
    package var body: Data?
    package var mainDocumentURL: String?
    package var cachePolicy: UInt
    /// In seconds; nil: the session's.
    package var timeout: TimeInterval?
    package var networkServiceType: UInt
    package var handlesCookies: Bool
    package var allowsCellularAccess: Bool
    package var allowsConstrainedAccess: Bool
    package var allowsExpensiveAccess: Bool
    package var requiresDNSSEC: Bool?
    package var keepsContentCodings: Bool?

    /// Nil for a request without a URL. A stream or a file of the request is left out.
    package init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        self.url = url.absoluteString
        method = request.httpMethod ?? "GET"
        fields = TransferFields(request.fields)
        body = request.httpBody
        mainDocumentURL = request.mainDocumentURL?.absoluteString
        cachePolicy = request.cachePolicy.rawValue
        timeout = request.hasExplicitTimeout ? request.timeoutInterval : nil
        networkServiceType = request.networkServiceType.rawValue
        handlesCookies = request.httpShouldHandleCookies
        allowsCellularAccess = request.allowsCellularAccess
        allowsConstrainedAccess = request.allowsConstrainedNetworkAccess
        allowsExpensiveAccess = request.allowsExpensiveNetworkAccess
        requiresDNSSEC = request.requiresDNSSECValidation ? true : nil
        keepsContentCodings = request.keepsContentCodings ? true : nil
    }

    /// Nil where the URL is none.
    package var request: URLRequest? {
        guard let url = URL(string: url) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.fields = fields.fields
        request.httpBody = body
        request.mainDocumentURL = mainDocumentURL.flatMap { URL(string: $0) }
        request.cachePolicy = URLRequest.CachePolicy(rawValue: cachePolicy) ?? .useProtocolCachePolicy
        if let timeout, timeout.isFinite { request.timeoutInterval = timeout }
        request.networkServiceType = URLRequest.NetworkServiceType(rawValue: networkServiceType) ?? .default
        request.httpShouldHandleCookies = handlesCookies
        request.allowsCellularAccess = allowsCellularAccess
        request.allowsConstrainedNetworkAccess = allowsConstrainedAccess
        request.allowsExpensiveNetworkAccess = allowsExpensiveAccess
        request.requiresDNSSECValidation = requiresDNSSEC == true
        request.keepsContentCodings = keepsContentCodings == true
        return request
    }
}

/// Header fields in their order. Each byte of a value is a character of ISO 8859-1, so that any value is kept as it is.
package struct TransferFields: Codable, Hashable, Sendable {
    private var pairs: [[String]]

    package init(_ fields: HTTPFields) {
        pairs = fields.indices.map { index in
            fields.withBytes(at: index) { name, value, _ in [Self.text(name), Self.text(value)] }
        }
    }

    /// Pairs that are none are passed over.
    package var fields: HTTPFields {
        var fields = HTTPFields()
        for pair in pairs where pair.count == 2 {
            let (name, value) = (Self.bytes(pair[0]), Self.bytes(pair[1]))
            name.withUnsafeBytes { name in
                value.withUnsafeBytes { fields.append(nameBytes: name, valueBytes: $0) }
            }
        }
        return fields
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        return text
    }

    /// What is no character of ISO 8859-1 is left out.
    private static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
    }
}
