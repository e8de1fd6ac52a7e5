import Foundation

/// What a program answers an authentication challenge with: a user name and a password, and how long to keep them.
///
/// Follows Apple's `URLCredential`. Instances do not change after they are made.
open class URLCredential: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {  // only `let`s
    /// How long a credential is kept.
    public enum Persistence: UInt, Sendable {
        /// For one request only.
        case none
        /// Until the session ends.
        case forSession
        /// In the program's credential storage.
        case permanent
        /// As ``permanent``; nothing synchronises it with other devices here.
        case synchronizable
    }

    /// How long this credential is kept.
    public let persistence: Persistence

    /// The user name.
    public let user: String?

    private let storedPassword: String?

    /// The password, or nil when there is none.
    open var password: String? { storedPassword }

    /// Whether the credential has a password.
    open var hasPassword: Bool { storedPassword != nil }

    /// Makes a credential from a user name and a password.
    public init(user: String, password: String, persistence: Persistence) {
        self.user = user
        storedPassword = password
        self.persistence = persistence
    }

    // MARK: NSSecureCoding, NSCopying

    private enum CodingKey {
        static let user = "user"
        static let password = "password"
        static let persistence = "persistence"
    }

    /// True: archives may be decoded securely.
    public static var supportsSecureCoding: Bool { true }

    /// Decodes what ``encode(with:)`` encoded; nil when the archive is not keyed, or lacks what is needed.
    public required init?(coder aDecoder: NSCoder) {
        guard aDecoder.allowsKeyedCoding,
            let persistence: Persistence = aDecoder.decodeCase(forKey: CodingKey.persistence)
        else { return nil }
        self.persistence = persistence
        user = aDecoder.decodeString(forKey: CodingKey.user)
        storedPassword = aDecoder.decodeString(forKey: CodingKey.password)
    }

    /// Encodes the credential, password included, into a keyed archive.
    open func encode(with aCoder: NSCoder) {
        guard aCoder.allowsKeyedCoding else { return }
        aCoder.encodeString(user, forKey: CodingKey.user)
        aCoder.encodeString(storedPassword, forKey: CodingKey.password)
        aCoder.encode(NSNumber(value: persistence.rawValue), forKey: CodingKey.persistence)
    }

    /// The same as ``copy(with:)``.
    open override func copy() -> Any { copy(with: nil) }

    /// The credential itself, which does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether user, password and persistence are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLCredential else { return false }
        return self === other
            || (user == other.user && storedPassword == other.storedPassword && persistence == other.persistence)
    }

    /// Agrees with ``isEqual(_:)``.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(user)
        hasher.combine(persistence)
        return hasher.finalize()
    }

    /// The user name and the persistence, never the password.
    open override var description: String {
        "<URLCredential>: user: \(user ?? "(none)"), password: \(hasPassword ? "set" : "none"), "
            + "persistence: \(persistence)"
    }
}
