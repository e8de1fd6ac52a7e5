import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Whose the stored responses are: what was obtained with credentials or cookies is for the same ones alone, unless the
/// server says that it is for everybody (`public`).
extension SessionCache {
    // MARK: Hashing

    /// Calls back with what secrets are hashed with: at once, but where a disk's key has to be read first. Nil where OpenSSL
    /// has no random numbers.
    func withHash(_ body: @escaping (KeyedHash?) -> Void) {
        if let hash = cache.keyedHash { return body(hash) }
        let (cache, loop) = (cache, loop)
        let answer = Transfer(body)
        BlockingPool.shared.run {
            let hash = cache.loadKeyedHash()
            loop.execute { answer.value(hash) }
        }
    }

    /// Whether a response can be stored only once the disk's key was read.
    func lacksHash(for receipt: Receipt) -> Bool {
        guard cache.keyedHash == nil else { return false }
        let fields = receipt.response.fields
        return receipt.requester.credentials?.isEmpty == false || receipt.requester.sendsStoredCookies
            || fields.contains(.setCookie) || SelectingFields.haveSecrets(fields)
    }

    // MARK: Owners

    /// For whom a response is stored; nil where that is not known, or cannot be kept.
    ///
    /// - Parameter stored: what the response speaks of, which was obtained before.
    func owner(
        of receipt: Receipt, _ control: CacheControl, updating stored: StoredResponse? = nil
    ) -> CacheMetadata.Owner? {
        if control.has(.isPublic) { return CacheMetadata.Owner() }
        let requester = receipt.requester
        guard let credentials = requester.credentials else { return nil }
        var owner = CacheMetadata.Owner(cookies: stored?.metadata.owner.cookies)
        if !credentials.isEmpty {
            guard let identity = identity(of: credentials) else { return nil }
            owner.credentials = identity
        }
        if requester.sendsStoredCookies || receipt.response.fields.contains(.setCookie),
            let storage = requester.cookieStorage
        {
            guard let identity = identity(of: storage, requester.fields) else { return nil }
            owner.cookies = identity
        }
        return owner
    }

    private func identity(of credentials: CacheCredentials) -> Data? {
        cache.keyedHash.flatMap { identities.credentials.hash(of: credentials, under: $0) { $0.identity($1) } }
    }

    /// Of a storage that the program's own code is behind each task may have its own cookies.
    private func identity(of storage: HTTPCookieStorage, _ sent: HTTPFields) -> Data? {
        let text = storage.isCustomized ? "cookies \(sent[.cookie] ?? "")" : "storage \(storage.identity)"
        return cache.keyedHash.flatMap {
            identities.cookies.hash(of: text, under: $0) { text, hash in hash.hash(of: Data(text.utf8)) }
        }
    }

    // MARK: Choosing

    /// Gives the stored response that is for a request which would be sent now, if any: at once, where the key is known and
    /// the program's own cookie storage is not asked.
    func choose(
        from stored: [StoredResponse], for request: URLRequest, _ resources: LoadResources, _ pool: ConnectionPool,
        _ chosen: @escaping (StoredResponse?) -> Void
    ) {
        let requester = Requester(sending: request, for: resources.task, pool)
        guard requester.credentials?.isEmpty == false || stored.contains(where: \.hasSecrets) else {
            return chosen(answer(from: stored, to: requester))
        }
        guard needsCookies(requester, stored) else {
            if cache.keyedHash != nil { return chosen(answer(from: stored, to: requester)) }
            return withHash { [self] _ in chosen(answer(from: stored, to: requester)) }
        }
        addCookies(to: requester, request, resources) { [self] requester in
            withHash { [self] _ in chosen(answer(from: stored, to: requester)) }
        }
    }

    /// Of several the last that was stored; but what was obtained with one's own cookies before what was without any.
    private func answer(from stored: [StoredResponse], to requester: Requester) -> StoredResponse? {
        var answer: StoredResponse?
        for response in stored where mayAnswer(requester, with: response) {
            if response.metadata.owner.cookies != nil { return response }
            answer = answer ?? response
        }
        return answer
    }

    private func needsCookies(_ requester: Requester, _ stored: [StoredResponse]) -> Bool {
        guard let storage = requester.cookieStorage, !requester.fields.contains(.cookie) else { return false }
        return stored.contains { response in
            storage.isCustomized && response.metadata.owner.cookies != nil
                || response.metadata.selectingFields.contains { $0.name == "cookie" }
        }
    }

    private func addCookies(
        to requester: Requester, _ request: URLRequest, _ resources: LoadResources,
        _ added: @escaping (Requester) -> Void
    ) {
        guard resources.core.settings.httpShouldSetCookies, let storage = requester.cookieStorage,
            let context = CookieContext(request, for: resources.task)
        else { return added(requester) }
        let add = Transfer { (value: String?) in
            var requester = requester
            if let value { requester.fields.append(.cookie, value) }
            added(requester)
        }
        storage.getCookieField(for: context, of: resources.task) { [loop] value in
            if loop.isCurrent { add.value(value) } else { loop.execute { add.value(value) } }
        }
    }

    /// Whether what is stored is for a request as it was sent.
    func mayAnswer(_ exchange: HTTPExchange, with stored: StoredResponse) -> Bool {
        mayAnswer(Requester(of: exchange), with: stored)
    }

    func mayAnswer(_ requester: Requester, with stored: StoredResponse) -> Bool {
        if stored.isPrograms { return true }
        if !stored.control.has(.isPublic) {
            guard isOwner(requester, stored.metadata.owner) else { return false }
        }
        return SelectingFields.match(stored.metadata.selectingFields, requester, cache.keyedHash)
    }

    private func isOwner(_ requester: Requester, _ owner: CacheMetadata.Owner) -> Bool {
        guard let credentials = requester.credentials, credentials.isEmpty == (owner.credentials == nil) else {
            return false
        }
        if let identity = owner.credentials {
            guard self.identity(of: credentials) == identity else { return false }
        }
        guard let identity = owner.cookies else { return true }
        return requester.cookieStorage.map { self.identity(of: $0, requester.fields) == identity } ?? false
    }
}

/// The last hashes of a session's secrets: most of its requests have the same.
struct CacheIdentities {
    struct Last<Secret: Equatable> {
        private var last: (secret: Secret, key: KeyedHash, hash: Data)?

        mutating func hash(
            of secret: Secret, under key: KeyedHash, _ make: (Secret, KeyedHash) -> Data?
        ) -> Data? {
            if let last, last.secret == secret, last.key == key { return last.hash }
            guard let hash = make(secret, key) else { return nil }
            last = (secret, key, hash)
            return hash
        }
    }

    var credentials = Last<CacheCredentials>()
    var cookies = Last<String>()
}
