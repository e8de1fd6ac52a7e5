import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The files of trusted authorities change while a session lives.
@Suite struct ChangedAuthoritiesTests {
    /// How a program names the file.
    enum Place: CaseIterable {
        case setting, environment
    }

    private static let unknown = URLError.Code.serverCertificateHasUnknownRoot

    private static func session(trusting file: String, _ place: Place) -> URLSession {
        makeSession {
            switch place {
            case .setting: $0.tlsTrustRoots = .file(path: file)
            case .environment: $0.settings.tlsEnvironment.certificateFile = file
            }
        }
    }

    @Test(arguments: BothVersions.all, Place.allCases)
    func newConnections(_ version: String, _ place: Place) async throws {
        let (authority, other) = (try CertificateAuthority(), try CertificateAuthority())
        let options = TLSServerOptions(try authority.issue(), applicationProtocols: [version])
        let server = try LoopbackServer(LoopbackServer.Options(tls: options)) { .text("\($0.connection)") }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let file = try folder.write(other.certificatePEM, to: "roots.pem").path
        let session = Self.session(trusting: file, place)
        defer { session.invalidateAndCancel() }
        let request = try BothVersions.request(server, "/")
        try await withTimeout {
            #expect(await session.outcome(request) == .failed(Self.unknown))
            try folder.write(other.certificatePEM + authority.certificatePEM, to: "roots.pem")
            await session.reset()
            let first = await session.outcome(request)
            guard case .loaded(status: 200, let connection) = first else {
                Issue.record("\(first)")
                return
            }
            try other.certificatePEM.write(toFile: file, atomically: true, encoding: .utf8)
            // A connection that is open stays in use.
            #expect(await session.outcome(request) == .ok(connection))
            await session.reset()
            // The server would resume the TLS session in which it was trusted.
            #expect(await session.outcome(request) == .failed(Self.unknown))
        }
    }

    @Test(arguments: Place.allCases) func streamTasks(_ place: Place) async throws {
        let (authority, other) = (try CertificateAuthority(), try CertificateAuthority())
        let server = try LoopbackServer(tls: try authority.issue()) { _ in .text("a") }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let file = try folder.write(other.certificatePEM, to: "roots.pem").path
        let session = Self.session(trusting: file, place)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            for (roots, failure) in [(other, Self.unknown), (authority, nil), (other, Self.unknown)] {
                try folder.write(roots.certificatePEM, to: "roots.pem")
                await session.reset()
                #expect(await Self.failure(of: session, server) == failure)
            }
        }
    }

    private static func failure(of session: URLSession, _ server: LoopbackServer) async -> URLError.Code? {
        let port = URL(string: server.url())?.port ?? 0
        let task = session.streamTask(withHostName: "localhost", port: port)
        task.resume()
        task.startSecureConnection()
        defer { task.cancel() }
        do {
            try await task.write(Data("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), timeout: 0)
            let (data, _) = try await task.readData(ofMinLength: 8, maxLength: 1000, timeout: 0)
            return data?.starts(with: "HTTP/1.1".utf8) == true ? nil : .badServerResponse
        } catch {
            return (error as? URLError)?.code ?? .unknown
        }
    }
}
