import Foundation
import LoadingKit

/// The common properties of two requests that can share a load.
struct FlightKey: Hashable {
    /// Each session has its own credentials, cookies and trust.
    private let session: SessionIdentity
    private let url: String
    /// Names in lower case, and the bytes of the values. Two users' values may be equal as texts, and differ in their
    /// bytes, which the server compares.
    private let fields: [String: [UInt8]]
    private let cachePolicy: UInt
    private let handlesCookies: Bool
    private let mainDocument: URL?
    /// Other settings that affect the response, or the networks used.
    private let rules: [Bool]

    /// Nil for a request whose load is not shared: its method is not GET, or it has a body.
    ///
    /// - Parameter ignoredFields: names in lower case; fields that identify the user are never ignored.
    init?(_ load: LoadContext, ignoredFields: Set<String>) {
        let request = load.request
        guard request.httpMethod ?? "GET" == "GET", load.body.isEmpty,
            let url = request.url
        else { return nil }
        let ignored = ignoredFields.subtracting(["authorization", "cookie", "proxy-authorization"])
        var fields: [String: [UInt8]] = [:]
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            let name = name.lowercased()
            if !ignored.contains(name) { fields[name] = Array(value.utf8) }
        }
        session = load.sessionIdentity
        // The fragment is not sent, but a response's URL contains it.
        self.url = url.absoluteString
        self.fields = fields
        cachePolicy = UInt(request.cachePolicy.rawValue)
        handlesCookies = request.httpShouldHandleCookies
        mainDocument = request.mainDocumentURL
        rules = [
            request.allowsCellularAccess, request.allowsConstrainedNetworkAccess, request.allowsExpensiveNetworkAccess,
            request.requiresDNSSECValidation, request.keepsContentCodings, request.followsRedirects,
        ]
    }
}
