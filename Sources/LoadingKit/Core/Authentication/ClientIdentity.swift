import Foundation
import LoadingKitTransport

/// A certificate and its private key, which authenticate a client to a TLS server.
///
/// The equivalent of `SecIdentity` on Apple's systems. Pass it in the answer to a challenge whose method is
/// ``NSURLAuthenticationMethodClientCertificate``, with ``URLCredential/init(identity:certificates:persistence:)``. The
/// key stays in memory; it is never written to disk.
///
/// An identity that was made with ``init(certificateFile:privateKeyFile:password:)`` follows its files when they are renewed.
/// Every other one is a value.
public struct ClientIdentity: Sendable {
    private enum Source: Sendable {
        case value(TLSIdentity)
        case files(TLSIdentityFiles)
    }

    private let source: Source

    package var identity: TLSIdentity {
        switch source {
        case .value(let identity): identity
        case .files(let files): files.identity
        }
    }

    /// The files that the identity follows; nil for a value.
    package var files: TLSIdentityFiles? { if case .files(let files) = source { files } else { nil } }

    /// Makes an identity from PEM files, and follows them: connections that are opened a few seconds after the files were
    /// renewed authenticate with the new certificate, also those of a credential that a session has remembered. While the
    /// files cannot be read, or the key does not belong to the certificate, the last identity is used. Blocks while it reads.
    ///
    /// - Parameters:
    ///   - certificateFile: the path of the file with the certificate and its intermediates.
    ///   - privateKeyFile: the path of the file with the key; nil: it is in the same file.
    ///   - password: the key's password, where the key is encrypted.
    /// - Throws: ``ClientIdentityError``.
    public init(
        certificateFile: String, privateKeyFile: String? = nil, password: String? = nil
    ) throws(ClientIdentityError) {
        // The files stay the same where the process changes its working directory, and in the daemon, which has another.
        let (certificates, key) = (certificateFile, privateKeyFile ?? certificateFile)
        let paths = TLSIdentityPaths(
            certificates: URL(fileURLWithPath: certificates).path, key: URL(fileURLWithPath: key).path,
            password: password)
        do { source = .files(try TLSIdentityFiles(paths)) } catch { throw ClientIdentityError(error) }
    }

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
        source = try Self.read { () throws(IdentityFailure) in
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
        source = try Self.read { () throws(IdentityFailure) in
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
        source = try Self.read { () throws(IdentityFailure) in
            try TLSIdentity(pkcs12: Array(pkcs12Representation), password: password)
        }
    }

    private static func read(
        _ make: () throws(IdentityFailure) -> TLSIdentity
    ) throws(ClientIdentityError) -> Source {
        do {
            return .value(try make())
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

    private init(_ identity: TLSIdentity) { source = .value(identity) }
}

extension ClientIdentity: Hashable {
    /// Whether the certificates are the same, or for identities that follow files, the files. The keys are not compared,
    /// because a certificate has exactly one key.
    public static func == (one: ClientIdentity, other: ClientIdentity) -> Bool {
        guard case (.value(let first), .value(let second)) = (one.source, other.source) else {
            return one.files?.paths == other.files?.paths
        }
        return first === second || (first.certificate == second.certificate && first.chain == second.chain)
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) {
        switch source {
        case .value(let identity): hasher.combine(identity.certificate)
        case .files(let files): hasher.combine(files.paths)
        }
    }
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
        /// A file cannot be read.
        case unreadableFile
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
        case .unreadable(let text): (reason, description) = (.unreadableFile, "the identity cannot be read: \(text)")
        case .unsupported(let text):
            (reason, description) = (
                .unsupportedEncryption,
                "the file is encrypted with an algorithm that this system's OpenSSL does not have (\(text)): install its "
                    + "legacy provider, or convert the file with `openssl pkcs12`"
            )
        }
    }
}
