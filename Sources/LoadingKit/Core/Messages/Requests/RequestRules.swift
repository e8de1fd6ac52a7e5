import Foundation

/// The permissions and requirements of a request beside its URL, method, fields and body, as they are stored for a
/// later run: in resume data, and in the journal of background sessions.
///
/// A later version may add rules. They are optional, so that each version can read the data of every other.
package struct RequestRules: Codable, Hashable, Sendable {
    package var mainDocumentURL: String?
    package var cachePolicy: UInt
    /// In seconds; nil: the session's timeout. As in a request, a value that is not positive or not finite is no limit.
    package var timeout: TimeInterval?
    package var networkServiceType: UInt
    package var handlesCookies: Bool
    package var allowsCellularAccess: Bool
    package var allowsConstrainedAccess: Bool
    package var allowsExpensiveAccess: Bool
    package var requiresDNSSEC: Bool?
    package var keepsContentCodings: Bool?
    package var followsRedirects: Bool?

    package init(_ request: URLRequest) {
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
        followsRedirects = request.followsRedirects ? nil : false
    }

    package func apply(to request: inout URLRequest) {
        request.mainDocumentURL = mainDocumentURL.flatMap { URL(string: $0) }
        request.cachePolicy = URLRequest.CachePolicy(rawValue: cachePolicy) ?? .useProtocolCachePolicy
        if let timeout { request.timeoutInterval = timeout }
        request.networkServiceType = URLRequest.NetworkServiceType(rawValue: networkServiceType) ?? .default
        request.httpShouldHandleCookies = handlesCookies
        request.allowsCellularAccess = allowsCellularAccess
        request.allowsConstrainedNetworkAccess = allowsConstrainedAccess
        request.allowsExpensiveNetworkAccess = allowsExpensiveAccess
        request.requiresDNSSECValidation = requiresDNSSEC == true
        request.keepsContentCodings = keepsContentCodings == true
        request.followsRedirects = followsRedirects != false
    }
}

extension RequestRules {
    /// The rules of a request with default values.
    static let usual = RequestRules(URLRequest(storage: RequestStorage(url: nil)))

    /// The rules as resume data has them: without the user of the document's URL.
    init(keptOf request: URLRequest) {
        self.init(request)
        mainDocumentURL = request.mainDocumentURL?.withoutCredentials.absoluteString
    }

    /// The rules in resume data: the usual ones where it is of an earlier version and has none. Nil where they are malformed.
    init?(propertyList: Any?) {
        guard let propertyList else {
            self = .usual
            return
        }
        guard
            let data = try? PropertyListSerialization.data(fromPropertyList: propertyList, format: .binary, options: 0),
            let rules = try? PropertyListDecoder().decode(RequestRules.self, from: data)
        else { return nil }
        self = rules
    }

    /// A dictionary, for a property list.
    var propertyList: Any? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return (try? encoder.encode(self))
            .flatMap { try? PropertyListSerialization.propertyList(from: $0, format: nil) }
    }
}
