import Foundation
import LoadingKitTransport

/// Why no ``ClientIdentity`` could be made.
public struct ClientIdentityError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// What is wrong.
    public enum Reason: Sendable, Hashable {
        /// The key, or the file, is encrypted, and no password was given.
        case passwordNeeded
        /// The password is not that of the key, or of the file.
        case wrongPassword
        /// There is no certificate, or a malformed one.
        case noCertificate
        /// There is no private key.
        case noPrivateKey
        /// The key is not that of any of the certificates.
        case keyMismatch
        /// The bytes are not in the format that the initializer reads.
        case malformed
        /// The key, or the file, is encrypted in a way that this system's OpenSSL does not know.
        case unsupportedEncryption
    }

    /// What is wrong.
    public let reason: Reason

    /// What is wrong and what to do, in plain words.
    public let description: String

    /// The same as ``description``.
    public var errorDescription: String? { description }

    init(_ failure: IdentityFailure) {
        switch failure {
        case .passwordNeeded:
            (reason, description) = (.passwordNeeded, "the private key is encrypted: give its password")
        case .wrongPassword:
            (reason, description) = (.wrongPassword, "the password is wrong: it does not decrypt the private key")
        case .noCertificate:
            (reason, description) = (
                .noCertificate, "there is no certificate (-----BEGIN CERTIFICATE-----), or a malformed one"
            )
        case .noKey: (reason, description) = (.noPrivateKey, "there is no private key beside the certificate")
        case .keyMismatch:
            (reason, description) = (.keyMismatch, "the private key does not belong to any of the certificates")
        case .malformed(let text): (reason, description) = (.malformed, "the identity cannot be read: \(text)")
        case .unsupported(let text):
            (reason, description) = (
                .unsupportedEncryption,
                "the file is encrypted with an algorithm that this system's OpenSSL does not have (\(text)): install its "
                    + "legacy provider, or convert the file with `openssl pkcs12`"
            )
        }
    }
}
