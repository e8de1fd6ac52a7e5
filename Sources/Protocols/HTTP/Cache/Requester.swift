import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// As whom a request is sent, and with which fields: whose stored responses are for it, and for whom its response is stored.
struct Requester {
    /// As they are sent. Of a request that is not sent yet those of the storage's cookies are added where they are asked for.
    var fields: HTTPFields
    /// Nil where they are not known: nothing that may be one person's is stored, or found.
    let credentials: CacheCredentials?
    /// Whose cookies go along, and whose the response sets.
    let cookieStorage: HTTPCookieStorage?
    let sendsStoredCookies: Bool

    /// Whether a request may be sent with credentials; soon answered, as most are not.
    static func mayHaveCredentials(_ request: URLRequest, _ pool: ConnectionPool) -> Bool {
        pool.mayAddCredentials || request.fields.contains(.authorization) || request.fields.contains(.cookie)
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

    /// Of a request that would be sent now: with the credential that worked before, as nothing else is known.
    init(sending request: URLRequest, for task: URLSessionTask, _ pool: ConnectionPool) {
        guard let url = request.url, let target = try? pool.target(of: url) else {
            self.init(request.fields, nil)
            return
        }
        let fields = pool.fields(of: request, to: target.origin, for: task)
        var login: (scheme: String, credential: URLCredential)?
        if !fields.contains(.authorization), pool.logins.knows(.server(target.origin)),
            let known = pool.logins.login(for: target.pathAndQuery, at: .server(target.origin)),
            url.credential.map({ known.credential.isSameLogin(as: $0) }) != false
        {
            login = (known.offer.challenge.scheme, known.credential)
        }
        self.init(
            fields,
            Self.credentials(fields, login, fields[.cookie], pool.logins.connectionIdentity(at: target.origin)),
            cookieStorage: request.httpShouldHandleCookies ? pool.settings.httpCookieStorage : nil)
    }

    /// Of a request that was sent.
    ///
    /// - Parameter status: that of its response, if there is one.
    init(of exchange: HTTPExchange, answered status: Int? = nil) {
        let fields = exchange.fields
        let connection = exchange.target.flatMap { exchange.pool.logins.connectionIdentity(at: $0.origin) }
        let cookie = exchange.sendsStoredCookies ? nil : fields[.cookie]
        let login = exchange.logins.server.handshake
        // What was sent was refused, and is not known any more.
        let isRefused = status == 401 && login != nil
        self.init(
            fields, isRefused ? nil : Self.credentials(fields, login?.current, cookie, connection),
            cookieStorage: exchange.cookieStorage,
            sendsStoredCookies: exchange.sendsStoredCookies)
    }

    private static func credentials(
        _ fields: HTTPFields, _ login: (scheme: String, credential: URLCredential)?, _ cookie: String?,
        _ connection: AuthenticationMemory.ConnectionIdentity?
    ) -> CacheCredentials? {
        var credentials = CacheCredentials(cookie: cookie)
        switch connection {
        case .several?: return nil
        case .one(let identity)?: credentials.connection = identity
        case nil: break
        }
        if let (scheme, credential) = login {
            // Who is meant by a credential without a name is known to the scheme alone.
            guard let user = credential.user, let password = credential.password else { return nil }
            credentials.authorization = .login(scheme: scheme, user: user, password: password)
        } else if fields.contains(.authorization) {
            credentials.authorization = .field(fields.values(of: .authorization).joined(separator: ", "))
        }
        return credentials
    }
}
