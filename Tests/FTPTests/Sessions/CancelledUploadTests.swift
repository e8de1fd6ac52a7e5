import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// An upload that is cancelled amid its body ends the data connection with a reset: a server takes an orderly end for
/// that of the file.
@Suite struct CancelledUploadTests {
    @Test(arguments: ["PUT", "APPE"], [false, true])
    func theServerDoesNotGetAnEndOfTheFile(method: String, isProtected: Bool) async throws {
        let authority = try CertificateAuthority()
        let options = TLSServerOptions(try authority.issue(), applicationProtocols: [])
        let server = try FaultyFTPServer(
            tls: isProtected ? .init(try TLSServerContext(options), isImplicit: true) : nil)
        defer { server.stop() }
        let session = makeFTPSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        let (isReading, isOver) = (Signal(), Signal())
        defer { isOver.fire() }
        var request = URLRequest(url: try #require(URL(string: server.url("/written.bin"))))
        request.httpMethod = method
        var number = 0
        request.httpBodyStream = FunctionStream { buffer, room in
            number += 1
            guard number == 1 else {
                isReading.fire()
                isOver.waitBlocking()
                return -1
            }
            let count = min(room, 1000)
            buffer.update(repeating: 0, count: count)
            return count
        }
        try await withTimeout { [request] in
            async let outcome = session.outcome(request)
            await isReading.wait()
            session.invalidateAndCancel()
            #expect(await outcome == .failed(.cancelled))
            #expect(await server.step(of: ["end", "lost"]) == "lost")
        }
    }
}
