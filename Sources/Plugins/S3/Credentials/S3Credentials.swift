import Foundation

/// The credentials for the signatures of requests: an access key, and for temporary credentials a session token.
///
/// Descriptions contain only the access key's identifier, which is not secret. They never contain secret and token.
public struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The access key's identifier, such as `AKIAIOSFODNN7EXAMPLE`. It is sent with each request.
    public let accessKeyID: String
    /// The secret key. It is never sent.
    public let secretAccessKey: String
    /// The token of temporary credentials; nil for permanent ones.
    public let sessionToken: String?
    /// The time at which temporary credentials expire; nil where it is unknown, or never.
    public let expiry: Date?

    /// Makes credentials from these parts.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expiry: Date? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
        self.expiry = expiry
    }

    /// Whether identifier and token can be sent in a field: they consist of visible ASCII characters, and are not
    /// empty.
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

/// A source of credentials. One object is for one account; two sessions share it only where the program passes it to
/// both.
///
/// ``S3Client`` calls it once for all waiting requests, and keeps the result until shortly before its expiry.
public protocol S3CredentialsProvider: Sendable {
    /// Returns the current credentials.
    ///
    /// - Throws: ``S3CredentialsError/notConfigured(_:)`` where this source is not in use, so that a chain continues
    ///   with the next one.
    func credentials() async throws -> S3Credentials
}

extension S3Credentials: S3CredentialsProvider {
    /// Returns these credentials themselves.
    public func credentials() async throws -> S3Credentials { self }
}

/// The reason why there are no credentials. The texts contain no secrets.
public enum S3CredentialsError: Error, Sendable, Equatable, LocalizedError, CustomStringConvertible {
    /// The source is not in use here; the text states what it requires.
    case notConfigured(String)
    /// The source is in use, and its result cannot be used: a file with an error, or an invalid answer.
    case malformed(source: String, reason: String)
    /// The source is in use and cannot be reached, or refuses the request.
    case failed(source: String, reason: String)
    /// No source of a chain is in use; the texts state what each of them requires.
    case noneFound([String])

    /// The description in plain words.
    public var description: String {
        switch self {
        case .notConfigured(let text): text
        case .malformed(let source, let reason): "the credentials of \(source) cannot be used: \(reason)"
        case .failed(let source, let reason): "\(source) returned no credentials: \(reason)"
        case .noneFound(let texts):
            "no credentials were found: \(texts.joined(separator: "; ")). Configure one of these, or pass credentials to S3Client"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
