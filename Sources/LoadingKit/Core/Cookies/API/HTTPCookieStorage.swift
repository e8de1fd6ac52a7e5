import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// Stores cookies, and selects the cookies for a request.
///
/// Follows Apple's `HTTPCookieStorage`, with the rules of RFC 6265bis. It is thread-safe. It holds cookies of up to
/// 4,096 bytes, 180 for each registrable domain and 3,000 in total. Beyond these limits, the least recently used
/// cookies are removed. Changes are posted as `NSHTTPCookieManagerCookiesChanged`.
open class HTTPCookieStorage: NSObject, @unchecked Sendable {  // all state is in a Guarded
    struct State: Sendable {
        var jar: CookieJar
        var policy = HTTPCookie.AcceptPolicy.always
        var writes = CookieWriteQueue()
        /// The version of the persistent store that was loaded last by ``reload()``.
        var version: String?
    }

    let state: Guarded<State>
    /// Whether a notification of changed cookies has been scheduled and not yet posted.
    private let willPost = Atomic<Bool>(false)
    let persistence: (any CookiePersistence)?
    private let acceptance: CookieAcceptance
    private let now: @Sendable () -> Date
    /// The storage's name. A storage with a persistent store has the store's name, which is the same in other
    /// processes; any other storage has a unique name.
    package let identity: String

    /// See ``EphemeralStore``.
    package nonisolated(unsafe) var ephemeralUses: EphemeralUses?

    /// Makes an empty storage that keeps its cookies in memory only.
    public override init() {
        state = Guarded(State(jar: CookieJar()))
        acceptance = CookieAcceptance(limits: CookieLimits())
        persistence = nil
        now = { Date() }
        identity = UUID().uuidString
    }

    /// Makes a storage with the cookies of `persistence`, which are read before the initializer returns. Where they
    /// cannot be read, the storage is empty.
    package init(
        persistence: (any CookiePersistence)?, limits: CookieLimits = CookieLimits(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        var jar = CookieJar(limits: limits)
        let kept = (try? persistence?.load()) ?? []
        for record in kept.sorted(by: { $0.creation < $1.creation }) { _ = jar.store(record, at: now()) }
        state = Guarded(State(jar: jar))
        acceptance = CookieAcceptance(limits: limits)
        self.persistence = persistence
        self.now = now
        identity = persistence?.identity ?? UUID().uuidString
    }

    // MARK: All cookies

    /// All cookies that have not expired, in the order in which they were stored.
    open var cookies: [HTTPCookie]? {
        let now = now()
        return state.withLock { $0.jar.records(at: now) }.map { HTTPCookie($0) }
    }

    /// All cookies, sorted by the descriptors. Cookies that are equal by the descriptors keep their order in
    /// ``cookies``.
    ///
    /// On Linux, descriptors are made from key paths: `NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: true)`.
    open func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
        (cookies ?? []).sorted { first, second in
            for descriptor in sortOrder {
                switch descriptor.compare(first, to: second) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }

    /// Stores a cookie, and replaces one with the same name, domain and path.
    ///
    /// An expired cookie only removes the one that it replaces. The following are not stored:
    ///
    /// - any cookie while ``cookieAcceptPolicy`` is `never`;
    /// - a cookie that exceeds the limits;
    /// - a cookie for all hosts of a public suffix, such as `.co.uk`;
    /// - a cookie that does not meet the requirements of a `__Secure-` or `__Host-` name.
    open func setCookie(_ cookie: HTTPCookie) {
        change { state, now in
            guard state.policy != .never, let record = acceptance.accepted(cookie.record) else { return [] }
            let changes = state.jar.store(record, at: now)
            return record.isExpired(at: now) ? changes + [.removedByProgram(record.identity)] : changes
        }
    }

    /// Removes the cookie with this cookie's name, domain and path; on disk also where another process has stored it.
    open func deleteCookie(_ cookie: HTTPCookie) {
        let identity = cookie.record.identity
        change { state, _ in state.jar.remove(identity) + [.removedByProgram(identity)] }
    }

    /// Removes the cookies that were stored at or after a date; on disk also those that other processes have stored.
    open func removeCookies(since date: Date) {
        change { state, _ in state.jar.removeAll { $0.stored >= date } + [.removedAll(since: date)] }
    }

    // MARK: Cookies of a URL

    /// The cookies for a request for a URL, in the order in which they are sent: those with longer paths first, then
    /// those created earlier. Nil for a URL without a host.
    open func cookies(for url: URL) -> [HTTPCookie]? {
        records(for: CookieContext(url: url)).map { $0.map { HTTPCookie($0) } }
    }

    /// Stores the cookies that a server set, where the rules of RFC 6265bis §5.7 and ``cookieAcceptPolicy`` permit.
    ///
    /// - Parameters:
    ///   - cookies: The result of ``HTTPCookie/cookies(withResponseHeaderFields:for:)``.
    ///   - url: The URL whose response set the cookies. Without it nothing is stored.
    ///   - mainDocumentURL: The URL of the page for which `url` was loaded; nil where the program loaded it for itself.
    open func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
        guard let url else { return }
        store(cookies, from: CookieContext(url: url, mainDocumentURL: mainDocumentURL))
    }

    /// The policy for cookies from servers. Default `always`. Changes are posted as
    /// `NSHTTPCookieManagerAcceptPolicyChanged`.
    ///
    /// The transfers of a background session use the policy that the storage has when the session is made.
    open var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { state.withLock { $0.policy } }
        set {
            let old = state.withLock { exchange(&$0.policy, for: newValue) }
            if old != newValue { post(.NSHTTPCookieManagerAcceptPolicyChanged) }
        }
    }

    // MARK: Cookies of a task

    /// Stores the cookies that the response to a task's current request set. Override it to separate tasks' cookies.
    ///
    /// A session calls it on its event loop, before the request that follows the response: an override must not block.
    open func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
        guard let request = task.currentRequest else { return }
        setCookies(cookies, for: request.url, mainDocumentURL: request.mainDocumentURL)
    }

    /// Passes the cookies for a task's current request to `completionHandler`; nil when there is no request. Override
    /// this method, or `cookies(for:)`, to separate tasks' cookies. This method calls the handler before it returns;
    /// an override may call it later. Only the first call counts. A handler that is released without a call passes on
    /// nil.
    ///
    /// A session calls an override on a thread for the program's code, where it may block. It may call it for several
    /// tasks at once.
    open func getCookiesFor(
        _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
    ) {
        guard type(of: self) != HTTPCookieStorage.self,
            !AsynchronousCall.isUnderWay(.taskCookies, of: self, from: .asynchronousForm)
        else { return completionHandler(storedCookies(for: task)) }
        // A subclass may override the asynchronous form.
        let call = AsynchronousCall(.taskCookies, self, from: .completionForm)
        AsynchronousForm.startTask { completionHandler(await call.run { await self.cookies(for: task) }) }
    }

    /// The asynchronous form of ``getCookiesFor(_:completionHandler:)``. Override either method.
    open func cookies(for task: URLSessionTask) async -> [HTTPCookie]? {
        if AsynchronousCall.isUnderWay(.taskCookies, of: self, from: .completionForm) {
            return storedCookies(for: task)
        }
        return await AsynchronousForm.byDefault(.taskCookies, of: self, placeholder: nil) {
            getCookiesFor(task, completionHandler: $0)
        }
    }

    private func storedCookies(for task: URLSessionTask) -> [HTTPCookie]? {
        let context = task.currentRequest.flatMap { CookieContext($0) }
        return context.flatMap { records(for: $0) }?.map { HTTPCookie($0) }
    }

    /// The number of cookies.
    open override var description: String { "<NSHTTPCookieStorage cookies count:\(cookies?.count ?? 0)>" }

    // MARK: State

    func records(for context: CookieContext) -> [CookieRecord]? {
        guard let query = CookieQuery(context) else { return nil }
        let now = now()
        return state.withLock { $0.jar.records(for: query, at: now) }
    }

    /// - Parameter note: Called with the name of each cookie, and with the reason where it is not stored.
    func store(
        _ cookies: [HTTPCookie], from context: CookieContext,
        _ note: (_ name: String, CookieRefusal?) -> Void = { _, _ in }
    ) {
        guard !cookies.isEmpty else { return }
        var refusals: [CookieRefusal?] = []
        change { state, now in
            cookies.flatMap { cookie -> [CookieChange] in
                do throws(CookieRefusal) {
                    guard context.isAccepted(by: state.policy) else { throw .policy }
                    let accepted = try acceptance.accepted(cookie.record, from: context, at: now, in: state.jar)
                    refusals.append(nil)
                    let changes = state.jar.store(accepted, at: now)
                    // Another process may have stored the cookie as `Secure`. Only a secure origin may remove such a
                    // cookie (RFC 6265bis §5.7).
                    guard accepted.isExpired(at: now), context.url.isSecureForCookies else { return changes }
                    return changes + [.removedByServer(accepted.identity)]
                } catch {
                    refusals.append(error)
                    return []
                }
            }
        }
        // Not while the lock is held.
        for (cookie, refusal) in zip(cookies, refusals) { note(cookie.name, refusal) }
    }

    /// Loads the changes that other processes have made in the persistent store. Session cookies, and changes that may
    /// not have been written when the store was read, are kept. May block. One call at a time.
    package func reload() {
        guard let persistence, case .success(let version) = Result(catching: { try persistence.version() }) else {
            return
        }
        let isNew = state.withLock { state in
            let isNew = state.version != version
            if isNew { state.writes.beginReading() }
            return isNew
        }
        guard isNew else { return }
        let (kept, now) = (try? persistence.load(), now())
        let hasChanged = state.withLock { state in
            let own = state.writes.endReading()
            guard let kept else { return false }
            state.version = version
            let others = kept.filter { !own.hasChange(of: $0) }.sorted { $0.creation < $1.creation }
            let left = own.identities.union(others.map(\.identity))
            var changes = state.jar.removeAll { !$0.isSessionOnly && !left.contains($0.identity) }
            for record in others { changes += state.jar.store(record, at: now) }
            return !changes.isEmpty
        }
        if hasChanged { postCookiesChanged() }
    }

    /// Makes changes, writes them, and posts a notification of those in memory.
    private func change(_ body: (inout State, Date) -> [CookieChange]) {
        let now = now()
        let (hasChanged, batch) = state.withLock { state in
            let changes = body(&state, now)
            if persistence != nil { state.writes.add(changes, at: now) }
            return (changes.contains(where: \.isInMemory), state.writes.next())
        }
        if let batch { write(batch) }
        if hasChanged { postCookiesChanged() }
    }

    /// Posts a notification of changed cookies, but not on a session's event loop: an observer may block, or wait for
    /// the main thread.
    private func postCookiesChanged() {
        guard EventLoop.hasCallingThread else { return post(.NSHTTPCookieManagerCookiesChanged) }
        // A notification that is already scheduled covers this change, too.
        guard !willPost.exchange(true, ordering: .acquiringAndReleasing) else { return }
        BlockingPool.userCode.runOffLoop {
            self.willPost.store(false, ordering: .releasing)
            self.post(.NSHTTPCookieManagerCookiesChanged)
        }
    }

    private func post(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }
}

extension NSNotification.Name {
    /// Posted when the cookies of a storage, the notification's object, have changed. It is posted on the thread that
    /// changed them. Where a session changed them, it is posted on a thread for the program's code.
    public static let NSHTTPCookieManagerCookiesChanged = Notification.Name(
        rawValue: "NSHTTPCookieManagerCookiesChangedNotification")

    /// Posted when the accept policy of a storage, the notification's object, has changed, on the thread that changed
    /// it.
    public static let NSHTTPCookieManagerAcceptPolicyChanged = Notification.Name(
        rawValue: "NSHTTPCookieManagerAcceptPolicyChangedNotification")
}

/// The part of a storage that HTTP uses, for each request and each response, including redirects.
extension HTTPCookieStorage {
    /// Whether the storage has no cookies. True only where this is certain.
    package var isEmpty: Bool { !isCustomized && state.withLock { $0.jar.count == 0 } }

    /// Whether the program's own code decides which cookies are sent with a task's requests.
    package var isCustomized: Bool { type(of: self) != HTTPCookieStorage.self }

    /// Passes the value of a request's `Cookie` field to `completion`, once; nil when there is no cookie for it.
    ///
    /// Calls `completion` before it returns; for a program's subclass later, and on any thread.
    ///
    /// - Parameters:
    ///   - context: The request as it will be sent.
    ///   - task: The task whose current request it is.
    package func getCookieField(
        for context: CookieContext, of task: URLSessionTask?, _ completion: @escaping @Sendable (String?) -> Void
    ) {
        guard let task, isCustomized else {
            return completion(Self.field(records(for: context) ?? []))
        }
        // A further answer of the program's would send the request again.
        let once = OnceAnswer<String?>(otherwise: nil, completion)
        // The program's code may block. Threads for such code may be waiting for loads that need the cookies.
        BlockingPool.answers.runOffLoop {
            self.getCookiesFor(task) { cookies in once.give(Self.field(cookies?.map(\.record) ?? [])) }
        }
    }

    /// Stores the cookies that a response's fields set.
    ///
    /// - Parameters:
    ///   - policy: The session's accept policy, which applies in addition to the storage's.
    ///   - note: Called with the name of each cookie, and with the reason where it is not stored.
    package func storeCookies(
        in fields: HTTPFields, of context: CookieContext, for task: URLSessionTask?, policy: HTTPCookie.AcceptPolicy,
        _ note: (_ name: String, CookieRefusal?) -> Void = { _, _ in }
    ) {
        guard fields.contains(.setCookie) else { return }
        let cookies = HTTPCookie.cookies(in: fields, for: context.url, now: now()) { note("", $0) }
        guard context.isAccepted(by: policy) else { return cookies.forEach { note($0.name, .policy) } }
        guard let task, isCustomized else { return store(cookies, from: context, note) }
        guard !cookies.isEmpty else { return }
        cookies.forEach { note($0.name, nil) }
        storeCookies(cookies, for: task)
    }

    /// `name=value; name=value` (RFC 6265bis §5.8.3), without spaces and tabs at the ends: a program's own cookies may
    /// have them, and HTTP/2 does not allow them there (RFC 9113 §8.2.1).
    private static func field(_ records: [CookieRecord]) -> String? {
        guard !records.isEmpty else { return nil }
        let value = records.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
        let trimmed = ASCII.trimmingSpaces(value.utf8)
        return String(value[trimmed.startIndex..<trimmed.endIndex])
    }
}
