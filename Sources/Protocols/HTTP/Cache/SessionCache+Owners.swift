import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Keeps users apart: a response that was received with credentials or cookies answers only requests with the same
/// ones, unless the server marks it `public`.
extension SessionCache {
    // MARK: Hashing

    /// Calls `body` with the hash for secrets, perhaps after its key was read from the disk; nil if OpenSSL has no
    /// random numbers.
    func withHash(_ body: @escaping (KeyedHash?) -> Void) {
        if let hash = cache.keyedHash { return body(hash) }
        let (cache, loop) = (cache, loop)
        let answer = LoopTransfer(body)
        BlockingPool.shared.run {
            let hash = cache.loadKeyedHash()
            loop.execute { answer.value(hash) }
        }
    }

    /// Whether a response can be stored only after the key was read.
    func needsHash(for receipt: Receipt) -> Bool {
        guard cache.keyedHash == nil else { return false }
        let fields = receipt.response.fields
        return receipt.user.credentials?.isEmpty == false || receipt.user.sendsStoredCookies
            || fields.contains(.setCookie) || VaryKey.hasSecrets(fields)
    }

    // MARK: Owners

    /// The user for whom a response is stored; nil if the user is unknown or the hash is missing.
    ///
    /// - Parameter stored: the stored response that this response updates.
    func owner(
        of receipt: Receipt, _ control: CacheControl, updating stored: StoredResponse? = nil
    ) -> CacheMetadata.Owner? {
        if control.has(.isPublic) { return CacheMetadata.Owner() }
        let user = receipt.user
        guard let credentials = user.credentials else { return nil }
        var owner = CacheMetadata.Owner(cookies: stored?.metadata.owner.cookies)
        if !credentials.isEmpty {
            guard let identity = identity(of: credentials) else { return nil }
            owner.credentials = identity
        }
        if user.sendsStoredCookies || receipt.response.fields.contains(.setCookie),
            let storage = user.cookieStorage
        {
            guard let identity = identity(of: storage, user.fields) else { return nil }
            owner.cookies = identity
        }
        return owner
    }

    private func identity(of credentials: CacheCredentials) -> Data? {
        cache.keyedHash.flatMap { identities.credentials.hash(of: credentials, under: $0) { $0.identity($1) } }
    }

    /// A storage that runs the program's own code may have other cookies for each task. For it the sent cookies count.
    private func identity(of storage: HTTPCookieStorage, _ sent: HTTPFields) -> Data? {
        let text = storage.isCustomized ? "cookies \(sent[.cookie] ?? "")" : "storage \(storage.identity)"
        return cache.keyedHash.flatMap {
            identities.cookies.hash(of: Data(text.utf8), under: $0) { bytes, hash in hash.hash(of: bytes) }
        }
    }

    // MARK: Choosing

    /// Calls `chosen` with the stored response that may answer the request, perhaps after the key was read or the
    /// program's own cookie storage was called.
    func choose(
        from stored: [StoredResponse], for request: URLRequest, _ resources: LoadResources, _ session: HTTPSession,
        _ chosen: @escaping (StoredResponse?) -> Void
    ) {
        let user = CacheUser(sending: request, for: resources.task, session)
        guard user.credentials?.isEmpty == false || stored.contains(where: \.hasSecrets) else {
            return chosen(answer(from: stored, to: user))
        }
        guard needsCookies(user, stored) else {
            if cache.keyedHash != nil { return chosen(answer(from: stored, to: user)) }
            return withHash { [self] _ in chosen(answer(from: stored, to: user)) }
        }
        addCookies(to: user, request, resources) { [self] user in
            withHash { [self] _ in chosen(answer(from: stored, to: user)) }
        }
    }

    /// The response that was stored last; first those that were received with the same cookies.
    private func answer(from stored: [StoredResponse], to user: CacheUser) -> StoredResponse? {
        var answer: StoredResponse?
        for response in stored where mayAnswer(user, with: response) {
            if response.metadata.owner.cookies != nil { return response }
            answer = answer ?? response
        }
        return answer
    }

    private func needsCookies(_ user: CacheUser, _ stored: [StoredResponse]) -> Bool {
        guard let storage = user.cookieStorage, !user.fields.contains(.cookie) else { return false }
        return stored.contains { response in
            storage.isCustomized && response.metadata.owner.cookies != nil
                || response.metadata.varyKey.contains { $0.name == "cookie" }
        }
    }

    private func addCookies(
        to user: CacheUser, _ request: URLRequest, _ resources: LoadResources,
        _ added: @escaping (CacheUser) -> Void
    ) {
        guard resources.core.settings.httpShouldSetCookies, let storage = user.cookieStorage,
            let context = CookieContext(request, for: resources.task)
        else { return added(user) }
        let add = LoopTransfer { (value: String?) in
            var user = user
            if let value { user.fields.append(.cookie, value) }
            added(user)
        }
        storage.getCookieField(for: context, of: resources.task) { [loop] value in
            if loop.isCurrent { add.value(value) } else { loop.execute { add.value(value) } }
        }
    }

    /// Whether the stored response may answer the request in the form in which it was sent.
    func mayAnswer(_ exchange: HTTPExchange, with stored: StoredResponse) -> Bool {
        mayAnswer(CacheUser(of: exchange), with: stored)
    }

    func mayAnswer(_ user: CacheUser, with stored: StoredResponse) -> Bool {
        if stored.isFromProgram { return true }
        if !stored.control.has(.isPublic) {
            guard isOwner(user, stored.metadata.owner) else { return false }
        }
        return VaryKey.matches(stored.metadata.varyKey, user, cache.keyedHash)
    }

    private func isOwner(_ user: CacheUser, _ owner: CacheMetadata.Owner) -> Bool {
        guard let credentials = user.credentials, credentials.isEmpty == (owner.credentials == nil) else {
            return false
        }
        if let identity = owner.credentials {
            guard self.identity(of: credentials) == identity else { return false }
        }
        guard let identity = owner.cookies else { return true }
        return user.cookieStorage.map { self.identity(of: $0, user.fields) == identity } ?? false
    }
}

/// A session's last hashes. Most of its requests have the same secrets.
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
    var cookies = Last<Data>()
}
