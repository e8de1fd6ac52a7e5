import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Keeps credentials, by protection space and user.
///
/// Follows Apple's `URLCredentialStorage`. Any thread may use it. A credential's persistence decides how long it is
/// kept:
///
/// - ``URLCredential/Persistence/none``: not at all.
/// - ``URLCredential/Persistence/forSession``: as long as the storage exists.
/// - ``URLCredential/Persistence/permanent``: on disk, if the storage has a place there.
///
/// A credential with a ``ClientIdentity`` is never kept on disk. In place of a user's name it is found by the subject
/// of its certificate.
open class URLCredentialStorage: NSObject, @unchecked Sendable {  // all state is in a Guarded
    private struct State: Sendable {
        var credentials: [URLProtectionSpace: [String: URLCredential]] = [:]
        var defaultUsers: [URLProtectionSpace: String] = [:]
        /// Where permanent credentials are kept; nil for a storage in memory.
        var store: (any CredentialStore)?

        func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
            defaultUsers[space].flatMap { credentials[space]?[$0] }
        }
    }

    /// The program's own storage. The module `LoadingKit` attaches its store, and makes it public as `shared`.
    package static let ofProgram = URLCredentialStorage()

    private let state = Guarded(State())

    /// See ``EphemeralStore``.
    package nonisolated(unsafe) var ephemeralUses: EphemeralUses?

    /// Makes an empty storage, which keeps all credentials in memory.
    public override init() {}

    /// Makes a storage whose permanent credentials are kept in a store. It begins with those that the store has.
    package convenience init(_ store: any CredentialStore) {
        self.init()
        attach(store)
    }

    /// Keeps permanent credentials in a store from now on. The credentials that the store has are added to the storage,
    /// unless it has one for the same space and user.
    package func attach(_ store: any CredentialStore) {
        let kept = store.load()
        state.withLock { state in
            for stored in kept {
                guard let user = stored.credential.user, state.credentials[stored.space]?[user] == nil else { continue }
                state.credentials[stored.space, default: [:]][user] = stored.credential
                if stored.isDefault, state.defaultUsers[stored.space] == nil { state.defaultUsers[stored.space] = user }
            }
            state.store = store
        }
    }

    // MARK: Reading

    /// The credentials of a protection space, by user; nil when there are none.
    open func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        state.withLock { $0.credentials[space] }
    }

    /// All credentials, by protection space and user.
    open var allCredentials: [URLProtectionSpace: [String: URLCredential]] { state.withLock { $0.credentials } }

    /// The credential to propose for a protection space, or nil.
    open func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        state.withLock { $0.defaultCredential(for: space) }
    }

    /// The credential to propose to a server that requests a client certificate. It is the default of the space with
    /// the server's list of authorities; else of the space without a list, as programs make it.
    package func defaultIdentity(for space: URLProtectionSpace) -> URLCredential? {
        let plain = URLProtectionSpace(
            tlsHost: space.host, port: space.port, proxyType: space.proxyType, distinguishedNames: nil)
        return state.withLock { $0.defaultCredential(for: space) ?? $0.defaultCredential(for: plain) }
    }

    // MARK: Writing

    /// Keeps a credential, in place of one for the same user. A credential whose persistence is
    /// ``URLCredential/Persistence/none`` is ignored. The first credential of a protection space is its default, until
    /// ``setDefaultCredential(_:for:)`` sets another.
    open func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        change { state in
            guard let user = credential.storageName else { return [] }
            let isDefault = state.credentials[space] == nil || state.defaultUsers[space] == user
            return Self.keep(credential, user, space, isDefault: isDefault, in: &state)
        }
    }

    /// Keeps a credential as ``set(_:for:)`` does, and proposes it for the protection space from now on.
    open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        change { state in
            guard let user = credential.storageName else { return [] }
            return Self.keep(credential, user, space, isDefault: true, in: &state)
        }
    }

    /// Forgets the credential for the same user. A synchronizable credential is ignored.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: nil)
    }

    /// Forgets a credential: the one for the same user.
    ///
    /// - Parameter options: ``NSURLCredentialStorageRemoveSynchronizableCredentials`` with the value true allows that a
    ///   synchronizable credential is forgotten.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace, options: [String: AnyObject]? = [:]) {
        let allowed = options?[NSURLCredentialStorageRemoveSynchronizableCredentials] as? NSNumber
        if credential.persistence == .synchronizable && allowed?.boolValue != true { return }
        change { state in
            guard let user = credential.storageName, let old = state.credentials[space]?.removeValue(forKey: user)
            else {
                return []
            }
            if state.credentials[space]?.isEmpty == true { state.credentials[space] = nil }
            if state.defaultUsers[space] == user { state.defaultUsers[space] = nil }
            return [old.isPermanent ? .forget(user: user, space) : nil]
        }
    }

    /// Forgets all credentials, and those that are kept on disk.
    package func removeAll() {
        change { state in
            defer { state = State(store: state.store) }
            // The store may have credentials that another process has kept: they are forgotten, too.
            return state.credentials.isEmpty && state.store == nil ? [] : [.forgetAll]
        }
    }

    /// Calls back, from any thread, when all changes so far are on disk or could not be written.
    package func flush(_ completion: @escaping @Sendable () -> Void) {
        if let store = state.withLock({ $0.store }) { store.flush(completion) } else { completion() }
    }

    /// What a change did: one element for each credential that changed. It is nil where nothing on disk changes.
    private typealias Effects = [CredentialChange?]

    private static func keep(
        _ credential: URLCredential, _ user: String, _ space: URLProtectionSpace, isDefault: Bool,
        in state: inout State
    ) -> Effects {
        guard credential.persistence != .none else { return [] }
        let wasDefault = state.defaultUsers[space] == user
        let old = state.credentials[space, default: [:]].updateValue(credential, forKey: user)
        if isDefault { state.defaultUsers[space] = user }
        if old == credential, isDefault == wasDefault { return [] }
        if credential.isPermanent {
            return [.keep(StoredCredential(space: space, credential: credential, isDefault: isDefault))]
        }
        return [old?.isPermanent == true ? .forget(user: user, space) : nil]
    }

    /// Makes a change, saves it, and posts a notification.
    private func change(_ body: (inout State) -> Effects) {
        let effects = state.withLock { state in
            let effects = body(&state)
            // Under the lock, so that changes are saved in their order.
            let changes = effects.compactMap { $0 }
            if !changes.isEmpty { state.store?.save(changes) }
            return effects
        }
        guard !effects.isEmpty else { return }
        // Not on the event loop: an observer may block, or wait for the main thread.
        BlockingPool.userCode.runOffLoop {
            NotificationCenter.default.post(name: .NSURLCredentialStorageChanged, object: self)
        }
    }
}

extension URLCredential {
    /// Private keys are not written to disk.
    fileprivate var isPermanent: Bool {
        identity == nil && (persistence == .permanent || persistence == .synchronizable)
    }

    /// The name by which a storage finds the credential: the user's, or the subject of the identity's certificate. Nil
    /// for trust in a server, which is not stored.
    fileprivate var storageName: String? { user ?? identity?.certificate.subject }
}

extension NSNotification.Name {
    /// A credential storage, the notification's object, has changed.
    public static let NSURLCredentialStorageChanged = NSNotification.Name("NSURLCredentialStorageChangedNotification")
}

/// The key of an option with which ``URLCredentialStorage/remove(_:for:options:)`` forgets synchronizable credentials.
public let NSURLCredentialStorageRemoveSynchronizableCredentials: String =
    "NSURLCredentialStorageRemoveSynchronizableCredentials"

/// Where a credential storage keeps the credentials that outlive the process. May be used from any thread.
package protocol CredentialStore: Sendable {
    /// The credentials that were saved last. May block.
    func load() -> [StoredCredential]

    /// Keeps changes, in the order of the calls. Must not block, and must not call the storage: it holds a lock.
    func save(_ changes: [CredentialChange])

    /// Calls back, from any thread, when all changes are on disk or could not be written.
    func flush(_ completion: @escaping @Sendable () -> Void)
}

/// One change of the credentials that are kept. Credentials that other processes have kept stay as they are.
package enum CredentialChange: Sendable, Hashable {
    /// Keep a credential, in place of the one for the same space and user. If it is the default of its space, no other
    /// credential of the space is the default any longer.
    case keep(StoredCredential)
    case forget(user: String, URLProtectionSpace)
    case forgetAll
}

/// A credential as it is kept.
package struct StoredCredential: Sendable, Hashable {
    package let space: URLProtectionSpace
    package let credential: URLCredential
    /// Whether it is the one to propose for its protection space.
    package let isDefault: Bool

    package init(space: URLProtectionSpace, credential: URLCredential, isDefault: Bool) {
        self.space = space
        self.credential = credential
        self.isDefault = isDefault
    }
}

extension URLCredentialStorage {
    /// Gives the credentials of a protection space, by user; nil when there are none. Calls back before it returns.
    public func getCredentials(
        for protectionSpace: URLProtectionSpace, task: URLSessionTask,
        completionHandler: ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: protectionSpace))
    }

    /// The credentials of a protection space, by user; nil when there are none.
    public func credentials(
        for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) async -> [String: URLCredential]? { credentials(for: protectionSpace) }

    /// Keeps a credential that a server or proxy has accepted from a task.
    public func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
        set(credential, for: protectionSpace)
    }

    /// Forgets a credential: the one for the same user.
    public func remove(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, options: [String: AnyObject]? = [:],
        task: URLSessionTask
    ) {
        remove(credential, for: protectionSpace, options: options)
    }

    /// Gives the credential to propose for a protection space, or nil. Calls back before it returns.
    public func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask, completionHandler: (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// The credential to propose for a protection space, or nil.
    public func defaultCredential(for space: URLProtectionSpace, task: URLSessionTask) async -> URLCredential? {
        defaultCredential(for: space)
    }

    /// Keeps a credential, and proposes it for the protection space from now on.
    public func setDefaultCredential(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) {
        setDefaultCredential(credential, for: protectionSpace)
    }
}
