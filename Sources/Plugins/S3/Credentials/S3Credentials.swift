import Foundation

/// What requests are signed with: an access key, and for temporary credentials a session token.
///
/// Descriptions have the access key's identifier alone, which is no secret. Secret and token are in none.
public struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The access key's identifier, such as `AKIAIOSFODNN7EXAMPLE`. It is sent with each request.
    public let accessKeyID: String
    /// The secret key. It is never sent.
    public let secretAccessKey: String
    /// The token of temporary credentials; nil for permanent ones.
    public let sessionToken: String?
    /// When temporary credentials end; nil where that is not known, or never.
    public let expiry: Date?

    /// Credentials of these parts.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expiry: Date? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
        self.expiry = expiry
    }

    /// Whether identifier and token can be sent in a field: they are of visible ASCII characters, and not empty.
    var isWellFormed: Bool {
        !secretAccessKey.isEmpty && Self.isToken(accessKeyID) && !accessKeyID.contains("/")
            && sessionToken.map(Self.isToken) ?? true
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// Without secrets.
    public var description: String {
        "credentials \(accessKeyID)" + (sessionToken == nil ? "" : ", temporary")
            + (expiry.map { ", until \($0)" } ?? "")
    }

    /// Without secrets.
    public var debugDescription: String { description }

    /// Without secrets, so that `dump` shows none.
    public var customMirror: Mirror {
        Mirror(self, children: ["accessKeyID": accessKeyID, "expiry": expiry as Any])
    }
}

/// Where credentials come from. One object is for one account; two sessions share it only where the program gives it to both.
///
/// ``S3Client`` asks once for all requests that wait, and keeps the answer until shortly before its expiry.
public protocol S3CredentialsProvider: Sendable {
    /// Gives credentials as they are now.
    ///
    /// - Throws: ``S3CredentialsError/notConfigured(_:)`` where this source is not in use, so that a chain asks the next one.
    func credentials() async throws -> S3Credentials
}

extension S3Credentials: S3CredentialsProvider {
    /// These credentials themselves.
    public func credentials() async throws -> S3Credentials { self }
}

/// Why there are no credentials. The texts have no secrets.
public enum S3CredentialsError: Error, Sendable, Equatable, LocalizedError, CustomStringConvertible {
    /// The source is not in use here; the text says what it looked for.
    case notConfigured(String)
    /// The source is in use, and what it gives cannot be used: a file with an error, or an answer that is none.
    case malformed(source: String, reason: String)
    /// The source is in use and cannot be reached, or refuses.
    case failed(source: String, reason: String)
    /// No source of a chain is in use; what each of them looked for.
    case noneFound([String])

    /// In plain words.
    public var description: String {
        switch self {
        case .notConfigured(let text): text
        case .malformed(let source, let reason): "the credentials of \(source) cannot be used: \(reason)"
        case .failed(let source, let reason): "\(source) gave no credentials: \(reason)"
        case .noneFound(let texts):
            "no credentials were found: \(texts.joined(separator: "; ")). Set one of these up, or give S3Client credentials"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
