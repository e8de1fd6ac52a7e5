import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport

/// The environment of a scenario: a server, its files, and sessions that trust it.
struct ScenarioRun: Sendable {
    let server: FTPServerProcess
    let authority: CertificateAuthority

    /// Something is not as it should be.
    struct Deviation: Error, CustomStringConvertible {
        var description: String
    }

    static let text = Array("hello\n".utf8)
    static let large: [UInt8] = {
        var random = SeededGenerator(seed: 20)
        return (0..<2_000_000).map { _ in random.next() }.withUnsafeBytes { Array($0) }
    }()
    static let smallFileCount = 1000

    static let files: [String: [UInt8]] = {
        var files: [String: [UInt8]] = [
            "a.txt": text, "empty": [], "large.bin": large, "lines.txt": Array("one\ntwo\n".utf8),
            "folder/größe 😀.txt": text, "folder/100% of a file; #1?.txt": text, "folder/deeper/b.txt": text,
            "folder/<script>&\"'.txt": text, "who.txt": Array("alice".utf8), "unreadable": text,
            "locked/unreadable": text,
            "log.txt": text, "written/": [],
        ]
        for number in 0..<smallFileCount { files["many/\(number).txt"] = Array("\(number)".utf8) }
        return files
    }()

    /// Files that nobody may read: vsftpd and pure-ftpd by the file's mode, pyftpdlib by its folder.
    var lockedPath: String { server.program == .pyftpdlib ? "/locked/unreadable" : "/unreadable" }

    static let otherFiles = ["who.txt": Array("bob".utf8)]

    static func start(
        _ program: FTPServerProcess.Program, _ security: FTPServerProcess.Security, allowsAnonymous: Bool = false,
        faults: FTPServerProcess.Faults = .init(), authority: CertificateAuthority? = nil,
        identity: ServerIdentity? = nil
    ) async throws -> ScenarioRun {
        let authority = try authority ?? CertificateAuthority()
        let server = try await onThread {
            try FTPServerProcess(
                program, files: files, otherFiles: otherFiles, security: security,
                identity: security == .none ? nil : try identity ?? authority.issue(),
                allowsAnonymous: allowsAnonymous, faults: faults)
        }
        return ScenarioRun(server: server, authority: authority)
    }

    func makeSession(
        delegate: (any URLSessionDelegate)? = nil, _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        makeFTPSession(delegate: delegate) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            configure($0)
        }
    }

    /// - Parameter credential: nil for the user that the server knows; empty for none.
    func request(
        _ path: String, method: String? = nil, fields: [String: String] = [:], credential: String? = nil
    ) throws -> URLRequest {
        let credential = credential ?? "\(server.user):\(server.password)"
        let text = server.url(path, credential: credential.isEmpty ? nil : credential)
        guard let url = URL(string: text) else { throw Deviation(description: "no URL: \(text)") }
        var request = URLRequest(url: url)
        if let method { request.httpMethod = method }
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        if server.security == .explicit { request.setValue("required", forHTTPHeaderField: "FTP-TLS") }
        return request
    }

    /// Puts the user and the password into the session's storage.
    func keepCredential(in session: URLSession) {
        let space = URLProtectionSpace(
            host: "localhost", port: Int(server.port), protocol: NSURLProtectionSpaceFTP, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodDefault)
        let credential = URLCredential(user: server.user, password: server.password, persistence: .forSession)
        session.configuration.urlCredentialStorage?.setDefaultCredential(credential, for: space)
    }

    func load(_ path: String, in session: URLSession) async throws -> [UInt8] {
        Array(try await session.data(for: request(path)).0)
    }

    /// The current content of a file on the server.
    func stored(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: server.folder.appendingPathComponent(path)))
    }

    func expect<Value: Equatable>(_ value: Value, _ expected: Value, _ what: String = "") throws {
        if value != expected { throw Deviation(description: "\(what) is \(short(value)), not \(short(expected))") }
    }

    func expect(_ holds: Bool, _ what: String) throws {
        if !holds { throw Deviation(description: what) }
    }

    /// The code of the error that a load ends with.
    func code(_ load: () async throws -> Void) async throws -> URLError.Code {
        do {
            try await load()
        } catch let error as URLError {
            return error.code
        }
        throw Deviation(description: "it loads")
    }

    private func short(_ value: some Any) -> String {
        if let bytes = value as? [UInt8], bytes.count > 60 { return "\(bytes.count) bytes" }
        if let bytes = value as? [UInt8] { return "“\(String(decoding: bytes, as: UTF8.self))”" }
        return "\(value)"
    }
}
