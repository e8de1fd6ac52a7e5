import Foundation
import LoadingKit

/// What two requests have in common whose load can be shared.
struct FlightKey: Hashable {
    private let installation: ObjectIdentifier
    /// Each session has credentials, cookies and trust of its own.
    private let session: SessionIdentity
    private let url: String
    /// Names in lower case.
    private let fields: [String: String]
    private let cachePolicy: UInt
    private let handlesCookies: Bool
    private let mainDocument: URL?
    /// What else decides what the caller gets, and by which networks.
    private let rules: [Bool]

    /// Nil for a request whose load is not shared: no GET, or one with a body.
    ///
    /// - Parameter ignoredFields: in lower case; those that identify the user are never ignored.
    init?(
        _ request: URLRequest, hasBody: Bool, _ installation: InstallationIdentity, _ session: SessionIdentity,
        ignoredFields: Set<String>
    ) {
        guard request.httpMethod ?? "GET" == "GET", !hasBody, request.httpBody == nil, request.httpBodyStream == nil,
            let url = request.url
        else { return nil }
        let ignored = ignoredFields.subtracting(["authorization", "cookie", "proxy-authorization"])
        var fields: [String: String] = [:]
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            let name = name.lowercased()
            if !ignored.contains(name) { fields[name] = value }
        }
        self.installation = ObjectIdentifier(installation)
        self.session = session
        // The fragment is not sent, but a response's URL has it.
        self.url = url.absoluteString
        self.fields = fields
        cachePolicy = UInt(request.cachePolicy.rawValue)
        handlesCookies = request.httpShouldHandleCookies
        mainDocument = request.mainDocumentURL
        rules = [
            request.allowsCellularAccess, request.allowsConstrainedNetworkAccess, request.allowsExpensiveNetworkAccess,
            request.requiresDNSSECValidation, request.keepsContentCodings,
        ]
    }
}
