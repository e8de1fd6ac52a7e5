import Foundation
import LoadingKitCore
import TestSupport
import Testing

/// Keys and files that ask for many rounds of key derivation, which would take seconds or minutes, are refused.
@Suite struct KeyDerivationTests {
    private enum Object {
        static let pbes2: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D]
        static let pbkdf2: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0C]
        static let scrypt: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B]
        static let aes256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2A]
        static let sha1: [UInt8] = [0x2B, 0x0E, 0x03, 0x02, 0x1A]
        /// PKCS#12's own, with SHA-1 and triple DES.
        static let tripleDES: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x01, 0x03]
        static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
        static let encryptedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x06]
        static let shroudedKey: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01, 0x02]
        static let safeContents: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01, 0x06]
    }

    // MARK: DER

    private static func der(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let content = Array(parts.joined())
        let size = content.count
        let length: [UInt8] = size < 128 ? [UInt8(size)] : [0x82, UInt8(size >> 8), UInt8(size & 0xFF)]
        return [tag] + length + content
    }

    private static func integer(_ value: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = value
        repeat {
            bytes.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        } while rest > 0
        return der(0x02, bytes[0] < 0x80 ? bytes : [0] + bytes)
    }

    /// An algorithm with parameters.
    private static func algorithm(_ object: [UInt8], _ parameters: [UInt8]) -> [UInt8] {
        der(0x30, der(0x06, object), parameters)
    }

    private static let salt = der(0x04, [1, 2, 3, 4, 5, 6, 7, 8])

    private static func pbes2(_ function: [UInt8]) -> [UInt8] {
        let cipher = algorithm(Object.aes256, der(0x04, [UInt8](repeating: 7, count: 16)))
        return algorithm(Object.pbes2, der(0x30, function, cipher))
    }

    private static func pkcs12Algorithm(rounds: Int) -> [UInt8] {
        algorithm(Object.tripleDES, der(0x30, salt, integer(rounds)))
    }

    /// PKCS#8, encrypted with an algorithm.
    private static func key(_ algorithm: [UInt8]) -> [UInt8] {
        der(0x30, algorithm, der(0x04, [UInt8](repeating: 9, count: 32)))
    }

    /// A bag or a part of a PKCS#12 file.
    private static func typed(_ object: [UInt8], _ value: [UInt8]) -> [UInt8] {
        der(0x30, der(0x06, object), der(0xA0, value))
    }

    /// A part of a PKCS#12 file that is not encrypted.
    private static func part(_ bags: [UInt8]) -> [UInt8] { typed(Object.data, der(0x04, der(0x30, bags))) }

    private static func pkcs12(_ parts: [UInt8], mac: [UInt8] = []) -> [UInt8] {
        der(0x30, integer(3), typed(Object.data, der(0x04, der(0x30, parts))), mac)
    }

    // MARK: The test

    private static let many = 20_000_000

    private static let algorithms = [
        pkcs12Algorithm(rounds: many), pkcs12Algorithm(rounds: 1 << 40),
        pbes2(algorithm(Object.pbkdf2, der(0x30, salt, integer(many)))),
        pbes2(algorithm(Object.scrypt, der(0x30, salt, integer(1024), integer(8), integer(4096)))),
    ]

    private static func pem(_ key: [UInt8], _ name: String) -> String {
        let text = Data(key).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(name)-----\n\(text)\n-----END \(name)-----\n"
    }

    /// PKCS#12 files with a key, or with a part that is encrypted like it.
    private static func files(_ algorithm: [UInt8]) throws -> [[UInt8]] {
        let key = Self.key(algorithm)
        let shrouded = typed(Object.shroudedKey, key)
        let content = der(0x30, der(0x06, Object.data), algorithm, der(0x80, [UInt8](repeating: 9, count: 32)))
        return [
            pkcs12(part(shrouded)), pkcs12(part(typed(Object.safeContents, der(0x30, shrouded)))),
            pkcs12(typed(Object.encryptedData, der(0x30, integer(0), content))),
            pkcs12(try IdentityFiles.encryptedPart(key: key, password: "p")),
        ]
    }

    /// Files that ask for many rounds in several places, and for a MAC.
    private static var otherFiles: [[UInt8]] {
        let some = part(typed(Object.shroudedKey, key(pkcs12Algorithm(rounds: many / 4))))
        let digest = der(0x30, algorithm(Object.sha1, der(0x05)), der(0x04, [UInt8](repeating: 1, count: 20)))
        return [pkcs12(some + some + some), pkcs12([], mac: der(0x30, digest, salt, integer(many)))]
    }

    private static func refuses(_ what: String, _ make: () throws -> ClientIdentity) {
        let error = #expect(throws: ClientIdentityError.self, "\(what)") { try make() }
        #expect(error?.reason == .malformed && error?.description.contains("rounds") == true, "\(what)")
    }

    /// The algorithm of a key in PKCS#8 that PEM encrypts once more would be seen only by OpenSSL.
    @Test(arguments: ["ENCRYPTED PRIVATE KEY", "ANY PRIVATE KEY", "PRIVATE KEY"])
    func encryptionOfPEM(name: String) throws {
        let identity = try CertificateAuthority().issue(.client("Ada"))
        let begin = "-----BEGIN \(name)-----\n"
        let fields = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,000102030405060708090A0B0C0D0E0F\n\n"
        let key = Self.pem([UInt8](repeating: 9, count: 64), name).replacingOccurrences(of: begin, with: begin + fields)
        let error = #expect(throws: ClientIdentityError.self) {
            try ClientIdentity(certificatesPEM: identity.certificatePEM, privateKeyPEM: key, password: "p")
        }
        #expect(error?.reason == .malformed && error?.description.contains("PEM's own encryption") == true)
    }

    @Test func tooManyRounds() throws {
        let identity = try CertificateAuthority().issue(.client("Ada"))
        let certificatesPEM = identity.certificatePEM
        let certificates = try X509Certificate.certificates(pemRepresentation: certificatesPEM)
        for (number, algorithm) in Self.algorithms.enumerated() {
            let key = Self.key(algorithm)
            for name in ["ENCRYPTED PRIVATE KEY", "ANY PRIVATE KEY"] {
                let malformed = "-----BEGIN X-----\n*\n-----END X-----\n"
                Self.refuses("PEM \(number) \(name)") {
                    try ClientIdentity(
                        certificatesPEM: certificatesPEM, privateKeyPEM: malformed + Self.pem(key, name), password: "p")
                }
            }
            Self.refuses("DER \(number)") {
                try ClientIdentity(certificates: certificates, privateKeyDER: Data(key), password: "p")
            }
            for (kind, file) in try Self.files(algorithm).enumerated() {
                Self.refuses("PKCS#12 \(number) \(kind)") {
                    try ClientIdentity(pkcs12Representation: Data(file), password: "p")
                }
            }
            let open = Self.pkcs12(try IdentityFiles.encryptedPart(key: key, password: ""))
            Self.refuses("PKCS#12 \(number) without a password") {
                try ClientIdentity(pkcs12Representation: Data(open), password: "")
            }
        }
        for (kind, file) in Self.otherFiles.enumerated() {
            Self.refuses("PKCS#12 \(kind)") { try ClientIdentity(pkcs12Representation: Data(file), password: "p") }
        }
    }
}
