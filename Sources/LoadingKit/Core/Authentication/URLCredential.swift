import Foundation
import LoadingKitPrimitives

/// A program's answer to an authentication challenge: a user name and a password, a client's certificate with its key,
/// or trust in a server; and how long to keep it.
///
/// Follows Apple's `URLCredential`. Instances are immutable.
open class URLCredential: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {  // only `let`s
    /// How long a credential is kept.
    public enum Persistence: UInt, Sendable {
        /// For one request only.
        case none
        /// Until the session ends.
        case forSession
        /// In the program's credential storage.
        case permanent
        /// The same as ``permanent``: on Linux nothing synchronises it with other devices.
        case synchronizable
    }

    /// How long this credential is kept.
    public let persistence: Persistence

    /// The user name.
    public let user: String?

    private let storedPassword: String?

    /// The client's certificate and key; nil for another kind of credential.
    public let identity: ClientIdentity?

    /// The intermediate certificates to send with the identity; empty for another kind of credential.
    public var certificates: [X509Certificate] { chosenCertificates ?? identity?.intermediates ?? [] }

    /// The intermediates that the program has chosen; nil for those of the identity.
    package let chosenCertificates: [X509Certificate]?

    /// The trust whose certificates this credential accepts; nil for another kind of credential.
    package let trust: ServerTrust?

    /// The password, or nil when there is none.
    open var password: String? { storedPassword }

    /// Whether the credential has a password.
    open var hasPassword: Bool { storedPassword != nil }

    /// Makes a credential from a user name and a password.
    public init(user: String, password: String, persistence: Persistence) {
        self.user = user
        storedPassword = password
        self.persistence = persistence
        identity = nil
        chosenCertificates = nil
        trust = nil
    }

    /// Makes a credential from a client's certificate and key, as the answer to a challenge with
    /// ``NSURLAuthenticationMethodClientCertificate``.
    ///
    /// - Parameters:
    ///   - identity: the certificate and its key.
    ///   - certificates: intermediates to send with the certificate; nil: those of the identity.
    ///   - persistence: how long ``URLCredentialStorage`` keeps the credential when the program stores it there. A key
    ///     is never written to disk: permanent credentials, too, end with the process.
    public init(identity: ClientIdentity, certificates: [X509Certificate]?, persistence: Persistence) {
        user = nil
        storedPassword = nil
        self.persistence = persistence
        self.identity = identity
        chosenCertificates = certificates
        trust = nil
    }

    /// Makes a credential that accepts a server, as the answer to a challenge with
    /// ``NSURLAuthenticationMethodServerTrust``. It accepts the certificates of `trust` even if
    /// ``ServerTrust/evaluate()`` fails for them, and no other certificates.
    public init(trust: ServerTrust) {
        user = nil
        storedPassword = nil
        persistence = .none
        identity = nil
        chosenCertificates = nil
        self.trust = trust
    }

    // MARK: NSSecureCoding, NSCopying

    private enum CodingKey {
        static let user = "user"
        static let password = "password"
        static let persistence = "persistence"
    }

    /// True: archives may be decoded securely.
    public static var supportsSecureCoding: Bool { true }

    /// Decodes the result of ``encode(with:)``, without identity and trust; nil when the archive is not keyed, or lacks
    /// a required value.
    public required init?(coder aDecoder: NSCoder) {
        guard aDecoder.allowsKeyedCoding,
            let persistence: Persistence = aDecoder.decodeCase(forKey: CodingKey.persistence)
        else { return nil }
        self.persistence = persistence
        user = aDecoder.decodeString(forKey: CodingKey.user)
        storedPassword = aDecoder.decodeString(forKey: CodingKey.password)
        identity = nil
        chosenCertificates = nil
        trust = nil
    }

    /// Encodes the credential, including the password, into a keyed archive. An identity's key and a server trust are
    /// not encoded.
    open func encode(with aCoder: NSCoder) {
        guard aCoder.allowsKeyedCoding else { return }
        aCoder.encodeString(user, forKey: CodingKey.user)
        aCoder.encodeString(storedPassword, forKey: CodingKey.password)
        aCoder.encode(NSNumber(value: persistence.rawValue), forKey: CodingKey.persistence)
    }

    /// The same as ``copy(with:)``.
    open override func copy() -> Any { copy(with: nil) }

    /// Returns the credential itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether user, password, identity, trust and persistence are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLCredential else { return false }
        return self === other
            || (user.hasSameBytes(as: other.user) && storedPassword.hasSameBytes(as: other.storedPassword)
                && persistence == other.persistence && identity == other.identity
                && certificates == other.certificates
                && trust?.certificates == other.trust?.certificates)
    }

    /// Agrees with ``isEqual(_:)``.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(user)
        hasher.combine(persistence)
        return hasher.finalize()
    }

    /// The user name, the identity's subject and the persistence; never a password or a key.
    open override var description: String {
        if let identity { return "<URLCredential>: identity: \(identity.certificate), persistence: \(persistence)" }
        if let trust { return "<URLCredential>: trust: \(trust)" }
        return "<URLCredential>: user: \(user ?? "(none)"), password: \(hasPassword ? "set" : "none"), "
            + "persistence: \(persistence)"
    }
}
