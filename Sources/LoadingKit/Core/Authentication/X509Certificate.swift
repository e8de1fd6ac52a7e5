import Foundation
import LoadingKitTransport

/// An X.509 certificate (RFC 5280), the equivalent of `SecCertificate` on Apple's systems.
public struct X509Certificate: Sendable, Hashable {
    let certificate: Certificate

    /// Makes a certificate from DER.
    ///
    /// - Throws: ``X509CertificateError`` when the bytes are not exactly one certificate in DER.
    public init(derRepresentation: Data) throws(X509CertificateError) {
        certificate = Certificate(der: Array(derRepresentation))
        guard certificate.isWellFormed else {
            throw X509CertificateError("the bytes are not an X.509 certificate in DER")
        }
    }

    /// Makes a certificate from the first certificate of PEM text.
    ///
    /// - Throws: ``X509CertificateError`` when the text has no certificate.
    public init(pemRepresentation: String) throws(X509CertificateError) {
        guard let first = try Self.certificates(pemRepresentation: pemRepresentation).first else {
            throw X509CertificateError.noPEM
        }
        self = first
    }

    init(_ certificate: Certificate) { self.certificate = certificate }

    /// Returns all certificates of PEM text, in its order.
    ///
    /// - Throws: ``X509CertificateError`` when the text has no certificate, or a malformed one.
    public static func certificates(pemRepresentation: String) throws(X509CertificateError) -> [X509Certificate] {
        guard let all = Certificate.all(inPEM: Array(pemRepresentation.utf8)) else { throw X509CertificateError.noPEM }
        return all.map { X509Certificate($0) }
    }

    /// The certificate's bytes (`SecCertificateCopyData`).
    public var derRepresentation: Data { Data(certificate.der) }

    /// The subject, as a distinguished name in text (RFC 2253).
    public var subject: String { certificate.subject ?? "" }

    /// The issuer, as a distinguished name in text (RFC 2253).
    public var issuer: String { certificate.issuer ?? "" }

    /// The first moment at which the certificate is valid.
    public var notBefore: Date { certificate.notBefore.map(Self.date) ?? .distantPast }

    /// The last second at which the certificate is valid.
    public var notAfter: Date { certificate.notAfter.map(Self.date) ?? .distantFuture }

    /// The serial number's bytes, the most significant first.
    public var serialNumber: Data { Data(certificate.serialNumber ?? []) }

    /// The DNS names in the certificate's subject alternative names. They may begin with `*.`.
    public var dnsNames: [String] { certificate.dnsNames }

    /// The IP addresses in the certificate's subject alternative names, as text.
    public var ipAddresses: [String] { certificate.ipAddresses }

    /// SHA-256 of the certificate: 32 bytes.
    public var sha256Fingerprint: Data { Data(certificate.fingerprint) }

    /// SHA-256 of the SubjectPublicKeyInfo: 32 bytes.
    ///
    /// This is the value to pin: it stays the same when a certificate is renewed with the same key (RFC 7469 §2.4).
    /// `NSPinnedDomains` names it `SPKI-SHA256-BASE64`.
    public var publicKeySHA256: Data { Data(certificate.publicKeyHash ?? []) }

    private static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }
}

extension X509Certificate: CustomStringConvertible {
    /// The subject, and the issuer.
    public var description: String { "\(subject), issued by \(issuer)" }
}

/// The error when bytes or text contain no valid certificates.
public struct X509CertificateError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// The reason, in plain words.
    public let description: String

    /// The same as ``description``.
    public var errorDescription: String? { description }

    init(_ description: String) { self.description = description }

    static let noPEM = X509CertificateError(
        "the text has no certificate in PEM (-----BEGIN CERTIFICATE-----), or a malformed one")
}
