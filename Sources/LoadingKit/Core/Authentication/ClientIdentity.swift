import Foundation
import LoadingKitTransport

/// A certificate and its private key, which authenticate a client to a TLS server.
///
/// The equivalent of `SecIdentity` on Apple's systems. Pass it in the answer to a challenge whose method is
/// ``NSURLAuthenticationMethodClientCertificate``, with ``URLCredential/init(identity:certificates:persistence:)``. The
/// key stays in memory; it is never written to disk.
///
/// An identity is a value, and does not follow the files that it was read from. When they are renewed, make another one,
/// and give it in the answer to the next challenge.
public struct ClientIdentity: Sendable {
    package let identity: TLSIdentity

    /// Makes an identity from PEM text that holds the certificate, its intermediates and the private key, in any order.
    ///
    /// - Parameters:
    ///   - pemRepresentation: the text.
    ///   - password: the key's password, where the key is encrypted.
    /// - Throws: ``ClientIdentityError``.
    public init(pemRepresentation: String, password: String? = nil) throws(ClientIdentityError) {
        try self.init(
            certificatesPEM: pemRepresentation, privateKeyPEM: pemRepresentation, password: password)
    }

    /// Makes an identity from PEM text in two parts, as most servers and tools keep it.
    ///
    /// - Parameters:
    ///   - certificatesPEM: the certificate and its intermediates.
    ///   - privateKeyPEM: the private key: PKCS#8, encrypted or not, or an algorithm's own form.
    ///   - password: the key's password, where the key is encrypted.
    /// - Throws: ``ClientIdentityError``.
    public init(
        certificatesPEM: String, privateKeyPEM: String, password: String? = nil
    ) throws(ClientIdentityError) {
        identity = try Self.read { () throws(IdentityFailure) in
            try TLSIdentity(
                certificatesPEM: Array(certificatesPEM.utf8), keyPEM: Array(privateKeyPEM.utf8), password: password)
        }
    }

    /// Makes an identity from DER.
    ///
    /// - Parameters:
    ///   - certificates: the certificate and its intermediates.
    ///   - privateKeyDER: the private key: PKCS#8, encrypted or not, or an algorithm's own form.
    ///   - password: the key's password, where the key is encrypted.
    /// - Throws: ``ClientIdentityError``.
    public init(
        certificates: [X509Certificate], privateKeyDER: Data, password: String? = nil
    ) throws(ClientIdentityError) {
        identity = try Self.read { () throws(IdentityFailure) in
            try TLSIdentity(
                certificates: certificates.map(\.certificate), keyDER: Array(privateKeyDER), password: password)
        }
    }

    /// Makes an identity from a PKCS#12 file, `.p12` or `.pfx` (`SecPKCS12Import`).
    ///
    /// - Parameters:
    ///   - pkcs12Representation: the file's bytes.
    ///   - password: the file's password; empty for a file without a password.
    /// - Throws: ``ClientIdentityError``.
    public init(pkcs12Representation: Data, password: String) throws(ClientIdentityError) {
        identity = try Self.read { () throws(IdentityFailure) in
            try TLSIdentity(pkcs12: Array(pkcs12Representation), password: password)
        }
    }

    private static func read(
        _ make: () throws(IdentityFailure) -> TLSIdentity
    ) throws(ClientIdentityError) -> TLSIdentity {
        do {
            return try make()
        } catch {
            throw ClientIdentityError(error)
        }
    }

    /// The certificate (`SecIdentityCopyCertificate`).
    public var certificate: X509Certificate { X509Certificate(identity.certificate) }

    /// The intermediate certificates that came with the identity. The client sends them with its certificate.
    public var intermediates: [X509Certificate] { identity.chain.map { X509Certificate($0) } }

    /// The same identity with other intermediates; nil when no memory is left.
    package func with(intermediates: [X509Certificate]) -> ClientIdentity? {
        identity.with(chain: intermediates.map(\.certificate)).map { ClientIdentity($0) }
    }

    private init(_ identity: TLSIdentity) { self.identity = identity }
}

extension ClientIdentity: Hashable {
    /// Whether the certificates are the same. The keys are not compared, because a certificate has exactly one key.
    public static func == (one: ClientIdentity, other: ClientIdentity) -> Bool {
        one.identity === other.identity
            || (one.identity.certificate == other.identity.certificate && one.identity.chain == other.identity.chain)
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity.certificate) }
}

extension ClientIdentity: CustomStringConvertible {
    /// The certificate's subject and issuer. The description contains nothing of the key.
    public var description: String { "<ClientIdentity>: \(certificate)" }
}

/// The error when no ``ClientIdentity`` could be made.
public struct ClientIdentityError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// The reason for the error.
    public enum Reason: Sendable, Hashable {
        /// The key, or the file, is encrypted, and no password was given.
        case passwordNeeded
        /// The password is not the password of the key, or of the file.
        case wrongPassword
        /// There is no certificate, or a malformed one.
        case noCertificate
        /// There is no private key.
        case noPrivateKey
        /// The key belongs to none of the certificates.
        case keyMismatch
        /// The bytes are not in the format that the initializer reads.
        case malformed
        /// The key, or the file, is encrypted in a way that this system's OpenSSL does not support.
        case unsupportedEncryption
    }

    /// The reason for the error.
    public let reason: Reason

    /// The reason and the remedy, in plain words.
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
