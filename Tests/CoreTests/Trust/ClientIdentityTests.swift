import Foundation
import TestSupport
import Testing

@testable import LoadingKitCore

@Suite struct ClientIdentityTests {
    private let authority: CertificateAuthority
    private let files: ServerIdentity
    private let other: ServerIdentity

    init() throws {
        authority = try CertificateAuthority()
        files = try authority.intermediate().issue(.client("Ada"))
        other = try authority.issue(.client("Bob"))
    }

    private struct Case {
        var what: String
        var reason: ClientIdentityError.Reason?
        var make: () throws -> ClientIdentity
    }

    private var cases: [Case] {
        let (files, other) = (files, other)
        let (certificates, key) = (files.certificatePEM, files.privateKeyPEM)
        func encrypted() throws -> String { try IdentityFiles.encryptedPEM(key, password: "secret") }
        func parsed() throws -> [X509Certificate] {
            try X509Certificate.certificates(pemRepresentation: certificates)
        }
        func p12(_ password: String, key: String? = key, isLegacy: Bool = false) throws -> Data {
            Data(try IdentityFiles.pkcs12(certificates, key: key, password: password, isLegacy: isLegacy))
        }
        return [
            Case(what: "PEM") { try ClientIdentity(pemRepresentation: certificates + key) },
            Case(what: "PEM, the key first") { try ClientIdentity(pemRepresentation: key + certificates) },
            Case(what: "PEM in two") { try ClientIdentity(certificatesPEM: certificates, privateKeyPEM: key) },
            Case(what: "PEM, the intermediate first") {
                let reversed = try parsed().reversed().map { $0.pem }.joined()
                return try ClientIdentity(certificatesPEM: reversed, privateKeyPEM: key)
            },
            Case(what: "PEM, a password that is not needed") {
                try ClientIdentity(pemRepresentation: certificates + key, password: "x")
            },
            Case(what: "encrypted PEM") {
                try ClientIdentity(
                    certificatesPEM: certificates, privateKeyPEM: try encrypted(), password: "secret")
            },
            Case(what: "encrypted PEM, no password", reason: .passwordNeeded) {
                try ClientIdentity(certificatesPEM: certificates, privateKeyPEM: try encrypted())
            },
            Case(what: "encrypted PEM, wrong password", reason: .wrongPassword) {
                try ClientIdentity(certificatesPEM: certificates, privateKeyPEM: try encrypted(), password: "wrong")
            },
            Case(what: "encrypted PEM, a password longer than OpenSSL takes", reason: .wrongPassword) {
                try ClientIdentity(
                    certificatesPEM: certificates, privateKeyPEM: try encrypted(),
                    password: String(repeating: "x", count: 100_000))
            },
            Case(what: "no key", reason: .noPrivateKey) { try ClientIdentity(pemRepresentation: certificates) },
            Case(what: "no certificate", reason: .noCertificate) { try ClientIdentity(pemRepresentation: key) },
            Case(what: "nothing", reason: .noCertificate) { try ClientIdentity(pemRepresentation: "") },
            Case(what: "another's key", reason: .keyMismatch) {
                try ClientIdentity(certificatesPEM: certificates, privateKeyPEM: other.privateKeyPEM)
            },
            Case(what: "a broken key", reason: .malformed) {
                let broken = key.replacing("M", with: "N")
                return try ClientIdentity(certificatesPEM: certificates, privateKeyPEM: broken)
            },
            Case(what: "DER") {
                try ClientIdentity(
                    certificates: try parsed(), privateKeyDER: Data(try IdentityFiles.keyDER(key)))
            },
            Case(what: "encrypted DER") {
                let der = Data(try IdentityFiles.keyDER(key, password: "secret"))
                return try ClientIdentity(certificates: try parsed(), privateKeyDER: der, password: "secret")
            },
            Case(what: "encrypted DER, no password", reason: .passwordNeeded) {
                let der = Data(try IdentityFiles.keyDER(key, password: "secret"))
                return try ClientIdentity(certificates: try parsed(), privateKeyDER: der)
            },
            Case(what: "encrypted DER, wrong password", reason: .wrongPassword) {
                let der = Data(try IdentityFiles.keyDER(key, password: "secret"))
                return try ClientIdentity(certificates: try parsed(), privateKeyDER: der, password: "wrong")
            },
            Case(what: "DER of nothing", reason: .malformed) {
                try ClientIdentity(certificates: try parsed(), privateKeyDER: Data())
            },
            Case(what: "no certificates in DER", reason: .noCertificate) {
                try ClientIdentity(certificates: [], privateKeyDER: Data(try IdentityFiles.keyDER(key)))
            },
            Case(what: "PKCS#12") {
                try ClientIdentity(pkcs12Representation: try p12("secret"), password: "secret")
            },
            Case(what: "PKCS#12, an empty password") {
                try ClientIdentity(pkcs12Representation: try p12(""), password: "")
            },
            Case(what: "PKCS#12 of an old program") {
                try ClientIdentity(pkcs12Representation: try p12("secret", isLegacy: true), password: "secret")
            },
            Case(what: "PKCS#12 of an old program, wrong password", reason: .wrongPassword) {
                try ClientIdentity(pkcs12Representation: try p12("secret", isLegacy: true), password: "wrong")
            },
            Case(what: "PKCS#12, wrong password", reason: .wrongPassword) {
                try ClientIdentity(pkcs12Representation: try p12("secret"), password: "wrong")
            },
            Case(what: "PKCS#12, no password", reason: .passwordNeeded) {
                try ClientIdentity(pkcs12Representation: try p12("secret"), password: "")
            },
            Case(what: "PKCS#12 without a key", reason: .noPrivateKey) {
                try ClientIdentity(pkcs12Representation: try p12("secret", key: nil), password: "secret")
            },
            Case(what: "PKCS#12 of nothing", reason: .malformed) {
                try ClientIdentity(pkcs12Representation: Data(), password: "secret")
            },
            Case(what: "PKCS#12 that is PEM", reason: .malformed) {
                try ClientIdentity(pkcs12Representation: Data(certificates.utf8), password: "secret")
            },
        ]
    }

    @Test("identities are read from every form, and what is wrong is said")
    func forms() throws {
        for test in cases {
            do {
                let identity = try test.make()
                #expect(test.reason == nil, "\(test.what)")
                #expect(identity.certificate.subject == "CN=Ada", "\(test.what)")
                #expect(
                    identity.intermediates.map(\.subject) == ["CN=LoadingKit Loopback Intermediate CA"], "\(test.what)")
            } catch let error as ClientIdentityError {
                #expect(error.reason == test.reason, "\(test.what): \(error)")
                #expect(!error.description.isEmpty && error.localizedDescription == error.description)
            }
        }
    }

    /// Old keys, as `openssl ec -aes256` writes them, before and behind the certificate.
    @Test(arguments: [CertificateTemplate.Key.p256, .rsa(bits: 2048)])
    func keysThatPEMEncrypts(_ kind: CertificateTemplate.Key) throws {
        var template = CertificateTemplate.client("Ada")
        template.key = kind
        let files = try authority.issue(template)
        let key = try IdentityFiles.encryptedTraditionalPEM(files.privateKeyPEM, password: "secret")
        let name = kind == .p256 ? "EC" : "RSA"
        #expect(key.hasPrefix("-----BEGIN \(name) PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"))
        let cases: [(password: String?, reason: ClientIdentityError.Reason?)] = [
            ("secret", nil), (nil, .passwordNeeded), ("wrong", .wrongPassword),
        ]
        for text in [key + files.certificatePEM, files.certificatePEM + key] {
            for (password, reason) in cases {
                do throws(ClientIdentityError) {
                    let identity = try ClientIdentity(pemRepresentation: text, password: password)
                    #expect(reason == nil && identity.certificate.subject == "CN=Ada")
                } catch {
                    #expect(error.reason == reason, "\(error)")
                }
            }
        }
    }

    @Test("bytes that are nearly PKCS#12 give an identity or a typed error")
    func garbage() throws {
        let whole = try IdentityFiles.pkcs12(files.certificatePEM, key: files.privateKeyPEM, password: "p")
        var random = SeededGenerator(seed: 12)
        for count in stride(from: 0, to: whole.count, by: 37) { try read(Array(whole.prefix(count))) }
        for _ in 0..<200 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            try read(bytes)
        }
    }

    private func read(_ bytes: [UInt8]) throws {
        do {
            let identity = try ClientIdentity(pkcs12Representation: Data(bytes), password: "p")
            #expect(identity.certificate.subject == "CN=Ada")
        } catch {}
    }

    @Test("a storage keeps identities by their certificates, and proposes the default of a host")
    func storage() throws {
        let identity = try ClientIdentity(pemRepresentation: files.certificatePEM + files.privateKeyPEM)
        let credential = URLCredential(identity: identity, certificates: nil, persistence: .permanent)
        #expect(credential.identity == identity && credential.certificates == identity.intermediates)
        #expect(credential.user == nil && !credential.hasPassword)
        let plain = URLCredential(identity: identity, certificates: [], persistence: .permanent)
        #expect(plain != credential && plain.certificates.isEmpty)
        let storage = URLCredentialStorage()
        let space = URLProtectionSpace(
            host: "h", port: 443, protocol: NSURLProtectionSpaceHTTPS, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodClientCertificate)
        storage.setDefaultCredential(credential, for: space)
        #expect(storage.credentials(for: space) == ["CN=Ada": credential])
        let asked = URLProtectionSpace(tlsHost: "h", port: 443, distinguishedNames: [Data([1])])
        #expect(storage.defaultIdentity(for: asked) == credential)
        let elsewhere = URLProtectionSpace(tlsHost: "h", port: 444, distinguishedNames: nil)
        #expect(storage.defaultIdentity(for: elsewhere) == nil)
        storage.remove(credential, for: space)
        #expect(storage.defaultIdentity(for: asked) == nil)
        // A key is never archived.
        let archive = try NSKeyedArchiver.archivedData(withRootObject: credential, requiringSecureCoding: true)
        let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: URLCredential.self, from: archive)
        #expect(back?.identity == nil && back?.persistence == .permanent)
    }

    /// The daemon follows them, and has another working directory. It gets the identity itself, too: it may be unable to
    /// read the files.
    @Test func theDaemonGetsThePathsOfFiles() throws {
        let folder = try TemporaryFolder()
        try folder.write(files.certificatePEM, to: "client.pem")
        try folder.write(try IdentityFiles.encryptedPEM(files.privateKeyPEM, password: "secret"), to: "client.key")
        let directory = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
        let toRoot = String(repeating: "../", count: directory.pathComponents.count - 1)
        func relative(_ name: String) -> String { toRoot + folder.file(name).path.dropFirst() }
        let identity = try ClientIdentity(
            certificateFile: relative("client.pem"), privateKeyFile: relative("client.key"), password: "secret")
        #expect(identity.certificate.subject == "CN=Ada")
        func reply(_ certificates: [X509Certificate]?) -> ChallengeReply {
            let credential = URLCredential(identity: identity, certificates: certificates, persistence: .forSession)
            let space = URLProtectionSpace(tlsHost: "127.0.0.1", port: 443, proxyType: nil, distinguishedNames: [])
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil,
                error: nil)
            return ChallengeReply(.useCredential, credential, to: challenge, isFromDelegate: true)
        }
        let paths = try #require(reply(nil).identityFiles)
        #expect(paths.count == 2 && paths.allSatisfy { $0.hasPrefix("/") })
        #expect(reply(nil).password == "secret" && reply(nil).identity?.contains("BEGIN CERTIFICATE") == true)
        // Intermediates that the program has chosen do not follow files.
        #expect(reply([]).identityFiles == nil && reply([]).password == nil)
    }
}

extension X509Certificate {
    fileprivate var pem: String {
        let lines = derRepresentation.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
    }
}
