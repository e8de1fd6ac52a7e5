import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

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

        func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
            defaultUsers[space].flatMap { credentials[space]?[$0] }
        }
    }

    private static let sharedStorage =
        DiskStores.current?.credentials().map { URLCredentialStorage($0) } ?? URLCredentialStorage()

    private let state: Guarded<State>
    private let store: (any CredentialStore)?

    /// The storage that sessions use unless told otherwise. It keeps permanent credentials on disk.
    ///
    /// They are in `Credentials.sqlite` in the program's folder below `~/.local/share/LoadingKit` (`XDG_DATA_HOME`),
    /// encrypted with AES-256-GCM; the key is in the file `Credentials.key` beside it, which the user alone may read. This
    /// protects credentials where the database gets into other hands without the key: copied, backed up or shared by itself.
    /// It does not protect them from who can read both, above all from any process of the same user. To move them, copy
    /// both files while no program uses them. Without its key a credential cannot be read, and counts as not there; one line
    /// of the log says so.
    ///
    /// Programs that run at the same time keep what each of them changes; a program reads what is kept when it first asks.
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
    /// ``URLCredential/Persistence/none``. The first of a protection space is proposed, until
    /// another is set to be.
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
            return [old.isPermanent ? .forget(user: user, space) : nil]
        }
    }

    /// Forgets all credentials, and those that are kept on disk.
    package func removeAll() {
        change { state in
            defer { state = State() }
            // What another process keeps is not known here, and is forgotten, too.
            return state.credentials.isEmpty && store == nil ? [] : [.forgetAll]
        }
    }

    /// Calls back, from any thread, when all changes so far are on disk or could not be written.
    package func flush(_ completion: @escaping @Sendable () -> Void) {
        if let store { store.flush(completion) } else { completion() }
    }

    /// What a change makes of what is kept on disk: as many elements as things happened, nil where the disk is not concerned.
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

    /// Makes a change, has the disk follow it, and tells of it.
    private func change(_ body: (inout State) -> Effects) {
        let effects = state.withLock { state in
            let effects = body(&state)
            // Under the lock, so that changes reach the disk in their order.
            let changes = effects.compactMap { $0 }
            if !changes.isEmpty { store?.save(changes) }
            return effects
        }
        guard !effects.isEmpty else { return }
        // An observer may block, or wait for the main thread.
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
