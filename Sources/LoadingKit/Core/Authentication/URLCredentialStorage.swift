import Foundation
import LoadingKitPrimitives

/// Keeps credentials, by protection space and user.
///
/// Follows Apple's `URLCredentialStorage`. Any thread may use it. Credentials of ``URLCredential/Persistence/none`` are
/// not kept; those of ``URLCredential/Persistence/forSession`` as long as the storage exists; permanent ones beyond that
/// where the storage was made with a place for them. A credential with a ``ClientIdentity`` is kept by its certificate's
/// subject in place of a user, and never on disk.
open class URLCredentialStorage: NSObject, @unchecked Sendable {  // all state is in a Guarded
    private struct State: Sendable {
        var credentials: [URLProtectionSpace: [String: URLCredential]] = [:]
        var defaultUsers: [URLProtectionSpace: String] = [:]
        /// How often the permanent credentials have changed.
        var revision = 0

        func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
            defaultUsers[space].flatMap { credentials[space]?[$0] }
        }
    }

    private static let sharedStorage = URLCredentialStorage()

    private let state: Guarded<State>
    private let store: (any CredentialStore)?

    /// The storage that sessions use unless told otherwise.
    open class var shared: URLCredentialStorage { sharedStorage }

    /// Makes an empty storage, which keeps all credentials in memory.
    public override init() {
        state = Guarded(State())
        store = nil
    }

    /// Makes a storage whose permanent credentials are kept in a store, and begins with those that are there.
    package init(_ store: any CredentialStore) {
        var loaded = State()
        for stored in store.load() {
            guard let user = stored.credential.user else { continue }
            loaded.credentials[stored.space, default: [:]][user] = stored.credential
            if stored.isDefault { loaded.defaultUsers[stored.space] = user }
        }
        state = Guarded(loaded)
        self.store = store
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

    /// The credential to propose to a server that asks for a client certificate: the default of the space as the server
    /// describes it, else of the space as a program makes it, which has no list of authorities.
    package func defaultIdentity(for space: URLProtectionSpace) -> URLCredential? {
        let plain = URLProtectionSpace(tlsHost: space.host, port: space.port, distinguishedNames: nil)
        return state.withLock { $0.defaultCredential(for: space) ?? $0.defaultCredential(for: plain) }
    }

    // MARK: Writing

    /// Keeps a credential, in place of one for the same user. Does nothing with one whose persistence is
    /// ``URLCredential/Persistence/none``.
    open func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        change { Self.keep(credential, space, in: &$0) }
    }

    /// Keeps a credential as ``set(_:for:)`` does, and proposes it for the protection space from now on.
    open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        change { state in
            guard let user = credential.storageName, credential.persistence != .none else { return [] }
            let replaced = Self.keep(credential, space, in: &state)
            if replaced.isEmpty, state.defaultUsers[space] == user { return [] }
            state.defaultUsers[space] = user
            return replaced + [credential]
        }
    }

    /// Forgets a credential: the one for the same user. Does nothing with one that is synchronizable.
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
            return [old]
        }
    }

    /// Forgets all credentials.
    package func removeAll() {
        change { state in
            let all = state.credentials.values.flatMap(\.values)
            state.credentials = [:]
            state.defaultUsers = [:]
            return all
        }
    }

    /// Gives what was concerned: nothing when nothing has changed.
    private static func keep(
        _ credential: URLCredential, _ space: URLProtectionSpace, in state: inout State
    ) -> [URLCredential] {
        guard let user = credential.storageName, credential.persistence != .none else { return [] }
        let old = state.credentials[space]?.updateValue(credential, forKey: user)
        if state.credentials[space] == nil { state.credentials[space] = [user: credential] }
        return old == credential ? [] : [credential] + (old.map { [$0] } ?? [])
    }

    /// Makes a change, which gives the credentials that it concerns, and tells of it.
    private func change(_ body: (inout State) -> [URLCredential]) {
        let (concerned, saved) = state.withLock { state -> ([URLCredential], (credentials: [StoredCredential], Int)?) in
            let concerned = body(&state)
            guard store != nil, concerned.contains(where: \.isPermanent) else { return (concerned, nil) }
            state.revision += 1
            return (concerned, (Self.permanent(state), state.revision))
        }
        if let saved { store?.save(saved.credentials, revision: saved.1) }
        if !concerned.isEmpty { NotificationCenter.default.post(name: .NSURLCredentialStorageChanged, object: self) }
    }

    private static func permanent(_ state: State) -> [StoredCredential] {
        state.credentials.flatMap { space, users in
            users.filter(\.value.isPermanent).map { user, credential in
                StoredCredential(space: space, credential: credential, isDefault: state.defaultUsers[space] == user)
            }
        }
    }
}

extension URLCredential {
    /// Private keys are not written to disk.
    fileprivate var isPermanent: Bool {
        identity == nil && (persistence == .permanent || persistence == .synchronizable)
    }

    /// What a storage knows it by: the user's name, or the subject of the identity's certificate. Trust in a server is not
    /// stored.
    fileprivate var storageName: String? { user ?? identity?.certificate.subject }
}

extension NSNotification.Name {
    /// A credential storage, the notification's object, has changed.
    public static let NSURLCredentialStorageChanged = NSNotification.Name("NSURLCredentialStorageChangedNotification")
}

/// The key of an option with which ``URLCredentialStorage/remove(_:for:options:)`` forgets synchronizable credentials.
public let NSURLCredentialStorageRemoveSynchronizableCredentials: String =
    "NSURLCredentialStorageRemoveSynchronizableCredentials"
