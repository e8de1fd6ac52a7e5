import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// The user for whom a request is sent, and its fields. They determine which stored responses may answer it, and for
/// whom its response is stored.
struct CacheUser {
    /// As they are sent. Before that, the storage's cookies are added only when they are needed.
    var fields: HTTPFields
    /// Nil if unknown. No response for a single user is stored or used then.
    let credentials: CacheCredentials?
    let cookieStorage: HTTPCookieStorage?
    let sendsStoredCookies: Bool

    /// A cheap check. Most requests have no credentials.
    static func mayHaveCredentials(_ request: URLRequest, _ session: HTTPSession) -> Bool {
        session.mayAddCredentials || request.fields.contains(.authorization) || request.fields.contains(.cookie)
    }

    init(
        _ fields: HTTPFields, _ credentials: CacheCredentials?, cookieStorage: HTTPCookieStorage? = nil,
        sendsStoredCookies: Bool = false
    ) {
        self.fields = fields
        self.credentials = credentials
        self.cookieStorage = cookieStorage
        self.sendsStoredCookies = sendsStoredCookies
    }

    /// The user of a request that would be sent now, with the credential that the server accepted before.
    init(sending request: URLRequest, for task: URLSessionTask, _ session: HTTPSession) {
        guard let url = request.url, let (origin, target) = try? session.find(url) else {
            self.init(request.fields, nil)
            return
        }
        let fields = origin.fields(of: request, for: task, by: session.requestFields)
        var accepted: (scheme: String, credential: URLCredential)?
        if !fields.contains(.authorization), session.authentication.knows(.server(target.origin)),
            let known = session.authentication.credential(
                forTarget: target.pathAndQuery, at: .server(target.origin), named: url.credential)
        {
            accepted = (known.offer.challenge.scheme, known.credential)
        }
        self.init(
            fields,
            Self.credentials(
                fields, accepted, fields[.cookie], session.authentication.connectionIdentity(at: target.origin)),
            cookieStorage: request.httpShouldHandleCookies ? session.settings.httpCookieStorage : nil)
    }

    /// The user of a request that was sent.
    ///
    /// - Parameter status: the status of its response, if there is one.
    init(of exchange: HTTPExchange, answered status: Int? = nil) {
        let fields = exchange.transaction.fields
        let connection = exchange.target.flatMap { exchange.session.authentication.connectionIdentity(at: $0.origin) }
        let cookie = exchange.transaction.sendsStoredCookies ? nil : fields[.cookie]
        let handshake = exchange.authentication.server.handshake
        // The server refused the credential, so the request's user is unknown.
        let isRefused = status == 401 && handshake != nil
        self.init(
            fields, isRefused ? nil : Self.credentials(fields, handshake?.current, cookie, connection),
            cookieStorage: exchange.cookieStorage,
            sendsStoredCookies: exchange.transaction.sendsStoredCookies)
    }

    private static func credentials(
        _ fields: HTTPFields, _ sent: (scheme: String, credential: URLCredential)?, _ cookie: String?,
        _ connection: AuthenticationMemory.ConnectionIdentity?
    ) -> CacheCredentials? {
        var credentials = CacheCredentials(cookie: cookie)
        switch connection {
        case .several?: return nil
        case .one(let identity)?: credentials.connection = identity
        case nil: break
        }
        if let (scheme, credential) = sent {
            // Only the scheme can determine the user of a credential without a name.
            guard let user = credential.user, let password = credential.password else { return nil }
            credentials.authorization = .credential(scheme: scheme, user: user, password: password)
        } else if fields.contains(.authorization) {
            credentials.authorization = .field(fields.values(of: .authorization).joined(separator: ", "))
        }
        return credentials
    }
}
