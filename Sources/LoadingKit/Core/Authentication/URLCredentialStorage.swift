import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Stores credentials, by protection space and user.
///
/// Follows Apple's `URLCredentialStorage`. It is thread-safe. A credential's persistence decides how long it is stored:
///
/// - ``URLCredential/Persistence/none``: not at all.
/// - ``URLCredential/Persistence/forSession``: as long as the storage exists. Of those that sessions store, after a
///   server has accepted them, only the latest 10,000 are kept.
/// - ``URLCredential/Persistence/permanent``: on disk, if the storage has a store there.
///
/// A credential with a ``ClientIdentity`` is never stored on disk. Its key is the subject of its certificate, in place
/// of a user name.
///
/// A session may call the methods of a subclass on its event loop: they must not block.
open class URLCredentialStorage: NSObject, @unchecked Sendable {  // all state is in a Guarded
    /// The largest number of credentials that sessions have stored for their own time. Beyond it, the oldest are
    /// removed.
    private static let maximumOfSessions = 10_000

    /// The place of a credential in a storage.
    private struct Place: Hashable, Sendable {
        let space: URLProtectionSpace
        let user: String
    }

    private struct State: Sendable {
        var credentials: [URLProtectionSpace: [String: URLCredential]] = [:]
        var defaultUsers: [URLProtectionSpace: String] = [:]
        /// The credentials that sessions have stored for their own time, and not the program, with increasing numbers.
        var ofSessions: [Place: UInt64] = [:]
        var lastOfSessions: UInt64 = 0
        /// The store of permanent credentials; nil for a storage in memory.
        var store: (any CredentialStore)?
        /// The version of the store that was loaded last by ``reload()``.
        var version: String?
        /// The number of calls of the store's `save`.
        var saveCount: UInt64 = 0

        func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
            defaultUsers[space].flatMap { credentials[space]?[$0] }
        }

        /// Adds credentials of the store, except where there is already one for the same space and user.
        mutating func add(_ kept: [StoredCredential]) {
            for stored in kept {
                guard let user = stored.credential.user, credentials[stored.space]?[user] == nil else { continue }
                credentials[stored.space, default: [:]][user] = stored.credential
                if stored.isDefault, defaultUsers[stored.space] == nil { defaultUsers[stored.space] = user }
            }
        }

        mutating func removePermanent() {
            credentials = credentials.mapValues { $0.filter { !$0.value.isPermanent } }.filter { !$0.value.isEmpty }
            defaultUsers = defaultUsers.filter { credentials[$0.key]?[$0.value] != nil }
        }

        /// Removes a credential, and returns it. What is to be destroyed without the lock is added to `released`.
        mutating func remove(
            _ user: String, of space: URLProtectionSpace, _ released: inout [any Sendable]
        ) -> URLCredential? {
            let old = credentials[space]?.removeValue(forKey: user)
            if let old { released.append(old) }
            var spaces = [ofSessions.removeKey(Place(space: space, user: user))?.space]
            if credentials[space]?.isEmpty == true { spaces.append(credentials.removeKey(space)) }
            if defaultUsers[space] == user { spaces.append(defaultUsers.removeKey(space)) }
            released.append(spaces.compactMap { $0 })
            return old
        }

        /// A session has stored a credential. Beyond the limit several are removed at once, so that they are not sorted
        /// for each one.
        mutating func noteOfSession(_ place: Place) -> Effect {
            lastOfSessions += 1
            ofSessions[place] = lastOfSessions
            guard ofSessions.count > URLCredentialStorage.maximumOfSessions else { return .none }
            var released: [any Sendable] = []
            let count = 1 + URLCredentialStorage.maximumOfSessions / 8
            for (place, _) in ofSessions.sorted(by: { $0.value < $1.value }).prefix(count) {
                _ = remove(place.user, of: place.space, &released)
            }
            return Effect(hasChanged: true, saved: [], released: released)
        }
    }

    /// The program's own storage. The module `LoadingKit` attaches its store, and makes the storage public as `shared`.
    package static let ofProgram = URLCredentialStorage()

    private let state = Guarded(State())

    /// See ``EphemeralStore``.
    package nonisolated(unsafe) var ephemeralUses: EphemeralUses?

    /// Makes an empty storage that keeps all credentials in memory.
    public override init() {}

    /// Makes a storage whose permanent credentials are kept in `store`. It starts with the credentials of `store`.
    package convenience init(_ store: any CredentialStore) {
        self.init()
        attach(store)
    }

    /// Keeps permanent credentials in `store` from now on. The credentials of `store` are added to the storage, except
    /// where the storage already has one for the same space and user.
    package func attach(_ store: any CredentialStore) {
        let kept = (try? store.load()) ?? []
        state.withLock { state in
            state.add(kept)
            state.store = store
        }
    }

    /// Loads the changes that other processes have made in the store. Credentials that are not permanent are kept. May
    /// block.
    package func reload() {
        let (store, last, saveCount) = state.withLock { ($0.store, $0.version, $0.saveCount) }
        guard let store, case .success(let version) = Result(catching: { try store.version() }), version != last,
            let kept = try? store.load()
        else { return }
        let (former, current) = state.withLock { state -> (State, State) in
            let former = state
            // A change that was made meanwhile may be missing from what was loaded. The next call loads again.
            guard state.saveCount == saveCount else { return (former, former) }
            state.removePermanent()
            state.add(kept)
            state.version = version
            return (former, state)
        }
        // Compared, and destroyed, without the lock: a credential may be of a class of the program.
        withExtendedLifetime(former) { if current.credentials != former.credentials { postChanged() } }
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
    /// the server's list of authorities, or else of the space without a list, which programs make.
    package func defaultIdentity(for space: URLProtectionSpace) -> URLCredential? {
        let plain = URLProtectionSpace(
            tlsHost: space.host, port: space.port, proxyType: space.proxyType, distinguishedNames: nil)
        return defaultCredential(for: space) ?? defaultCredential(for: plain)
    }

    // MARK: Writing

    /// Stores a credential, and replaces one for the same user. A credential whose persistence is
    /// ``URLCredential/Persistence/none`` is ignored. The first credential of a protection space is its default, until
    /// ``setDefaultCredential(_:for:)`` sets another.
    open func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        let equal = stored(equalTo: credential, for: space)
        change { state in
            guard let user = credential.storageName else { return .none }
            let isDefault = state.credentials[space] == nil || state.defaultUsers[space] == user
            return Self.keep(credential, equal, user, space, isDefault: isDefault, in: &state)
        }
    }

    /// Stores a credential as ``set(_:for:)`` does, and makes it the default of the protection space.
    open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        let equal = stored(equalTo: credential, for: space)
        change { state in
            guard let user = credential.storageName else { return .none }
            return Self.keep(credential, equal, user, space, isDefault: true, in: &state)
        }
    }

    /// Stores a credential that a server or proxy has accepted, as ``set(_:for:)`` does. The number of credentials that
    /// sessions have stored for their own time, and that the program has not stored, too, is limited.
    package func serverDidAccept(_ credential: URLCredential, for space: URLProtectionSpace) {
        let place = credential.storageName.map { Place(space: space, user: $0) }
        let isOfProgram = state.withLock { state -> Bool in
            guard let place, state.credentials[space]?[place.user] != nil else { return false }
            return state.ofSessions[place] == nil
        }
        set(credential, for: space)
        guard let place, !isOfProgram, credential.persistence == .forSession else { return }
        change { state in
            // The program may have replaced it meanwhile.
            guard state.credentials[space]?[place.user] === credential else { return .none }
            return state.noteOfSession(place)
        }
    }

    /// Removes the credential for the same user, from disk also where another process has stored it. A synchronizable
    /// credential is ignored.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: nil)
    }

    /// Removes the credential for the same user, from disk also where another process has stored it.
    ///
    /// - Parameter options: ``NSURLCredentialStorageRemoveSynchronizableCredentials`` with the value true permits the
    ///   removal of a synchronizable credential.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace, options: [String: AnyObject]? = [:]) {
        let allowed = options?[NSURLCredentialStorageRemoveSynchronizableCredentials] as? NSNumber
        if credential.persistence == .synchronizable && allowed?.boolValue != true { return }
        change { state in
            guard let user = credential.storageName else { return .none }
            var released: [any Sendable] = []
            let old = state.remove(user, of: space, &released)
            // The store may have a credential of this user that another process has stored.
            var saved = [CredentialChange.forget(user: user, space)]
            if let name = old?.storageName, !name.hasSameBytes(as: user) { saved.append(.forget(user: name, space)) }
            return Effect(hasChanged: old != nil, saved: saved, released: released)
        }
    }

    package func removeAll() {
        change { state in
            defer { (state.credentials, state.defaultUsers, state.ofSessions) = ([:], [:], [:]) }
            // The store may have credentials of another process, which are removed, too.
            return Effect(
                hasChanged: !state.credentials.isEmpty || state.store != nil, saved: [.forgetAll],
                released: [state.credentials, state.defaultUsers, state.ofSessions])
        }
    }

    /// Calls `completion`, on any thread, when all changes made before the call are on disk or could not be written.
    package func flush(_ completion: @escaping @Sendable () -> Void) {
        if let store = state.withLock({ $0.store }) { store.flush(completion) } else { completion() }
    }

    /// The effect of a change.
    private struct Effect: Sendable {
        static let none = Effect(hasChanged: false, saved: [])

        /// Whether a notification is posted.
        let hasChanged: Bool
        /// The changes of the store; empty where nothing on disk changes.
        let saved: [CredentialChange]
        /// The removed or replaced objects. They are destroyed after the lock is released: a `deinit` may be the
        /// program's.
        var released: [any Sendable] = []
    }

    /// The stored credential for the same user, if it is equal. Compared without the lock: `isEqual(_:)` may be the
    /// program's own code.
    private func stored(equalTo credential: URLCredential, for space: URLProtectionSpace) -> URLCredential? {
        guard let user = credential.storageName else { return nil }
        let old = state.withLock { $0.credentials[space]?[user] }
        return old == credential ? old : nil
    }

    /// - Parameter equal: The stored credential that is equal to `credential`.
    private static func keep(
        _ credential: URLCredential, _ equal: URLCredential?, _ user: String, _ space: URLProtectionSpace,
        isDefault: Bool, in state: inout State
    ) -> Effect {
        guard credential.persistence != .none else { return .none }
        let wasDefault = state.defaultUsers[space] == user
        let old = state.credentials[space, default: [:]].updateValue(credential, forKey: user)
        if isDefault { state.defaultUsers[space] = user }
        var released: [any Sendable] = []
        if let old { released.append(old) }
        if let place = state.ofSessions.removeKey(Place(space: space, user: user)) { released.append(place) }
        if let old, old === equal, isDefault == wasDefault {
            return Effect(hasChanged: false, saved: [], released: released)
        }
        var saved: [CredentialChange] = []
        // The store replaces the old credential only if its user has the same bytes: its name may be in another form of
        // Unicode.
        if let old, old.isPermanent, let name = old.storageName,
            !credential.isPermanent || !name.hasSameBytes(as: user)
        {
            saved.append(.forget(user: name, space))
        }
        if credential.isPermanent {
            saved.append(.keep(StoredCredential(space: space, credential: credential, isDefault: isDefault)))
        }
        return Effect(hasChanged: true, saved: saved, released: released)
    }

    /// Makes a change, saves it, and posts a notification.
    private func change(_ body: (inout State) -> Effect) {
        let effect = state.withLock { state -> Effect in
            let effect = body(&state)
            if !effect.saved.isEmpty {
                // Called while the lock is held, so that changes are saved in their order.
                state.store?.save(effect.saved)
                state.saveCount += 1
            }
            return effect
        }
        withExtendedLifetime(effect) { if effect.hasChanged { postChanged() } }
    }

    /// Posts the notification outside the event loop: an observer may block, or wait for the main thread.
    private func postChanged() {
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

    /// The key of the credential in a storage: the user name, or the subject of the identity's certificate. Nil for
    /// trust in a server, which is not stored.
    fileprivate var storageName: String? { user ?? identity?.certificate.subject }
}

extension Dictionary {
    /// Removes an entry, and returns its key as it was stored.
    fileprivate mutating func removeKey(_ key: Key) -> Key? {
        guard let index = index(forKey: key) else { return nil }
        return remove(at: index).key
    }
}

extension NSNotification.Name {
    /// Posted when a credential storage, the notification's object, has changed.
    public static let NSURLCredentialStorageChanged = NSNotification.Name("NSURLCredentialStorageChangedNotification")
}

/// The key of an option that lets ``URLCredentialStorage/remove(_:for:options:)`` remove synchronizable credentials.
public let NSURLCredentialStorageRemoveSynchronizableCredentials: String =
    "NSURLCredentialStorageRemoveSynchronizableCredentials"

/// The store for the credentials of a credential storage that outlive the process. Thread-safe.
package protocol CredentialStore: Sendable {
    /// Returns the credentials that were saved last. Throws where they cannot be read. May block.
    func load() throws -> [StoredCredential]

    /// A value that changes when another process changes the stored credentials; nil for a store without versions. May
    /// block.
    func version() throws -> String?

    /// Saves changes, in the order of the calls. Must not block, and must not call the storage, which holds a lock.
    func save(_ changes: [CredentialChange])

    /// Calls `completion`, on any thread, when all changes are on disk or could not be written.
    func flush(_ completion: @escaping @Sendable () -> Void)
}

extension CredentialStore {
    package func version() throws -> String? { nil }
}

/// One change of the stored credentials. Credentials of other processes are not affected.
package enum CredentialChange: Sendable, Hashable {
    /// Store a credential, and replace the one for the same space and user. If it is the default of its space, the
    /// space's former default is no longer the default.
    case keep(StoredCredential)
    case forget(user: String, URLProtectionSpace)
    case forgetAll
}

package struct StoredCredential: Sendable, Hashable {
    package let space: URLProtectionSpace
    package let credential: URLCredential
    package let isDefault: Bool

    package init(space: URLProtectionSpace, credential: URLCredential, isDefault: Bool) {
        self.space = space
        self.credential = credential
        self.isDefault = isDefault
    }
}
