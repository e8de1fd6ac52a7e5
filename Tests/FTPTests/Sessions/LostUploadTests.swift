import Foundation
import Glibc
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// The last bytes of an upload that TLS has taken, and the socket has not, never reach the server if the connection ends. The
/// server then takes what it has for all of the file, as many servers take a data connection's end without `close_notify` for the
/// file's.
@Suite struct LostUploadTests {
    /// The first pieces of the body: one that is sent whole, and one of two TLS records, of which the second one stays.
    private static let pieces = [1000, 30_000]
    private static let received = 1000 + 16_384

    /// - Parameter seesReset: whether the body ends after the server has reset the connection. If not, either may be first.
    @Test(arguments: [false, true], [false, true])
    func lostBytesFailTheUpload(seesReset: Bool, isTLS13: Bool) async throws {
        let authority = try CertificateAuthority()
        var options = TLSServerOptions(try authority.issue(), applicationProtocols: [])
        options.maximumVersion = isTLS13 ? .v1_3 : .v1_2
        // The arrival of a ticket would make the client's loop send the rest.
        options.allowsResumption = false
        let server = try FaultyFTPServer(
            [.init(step: "STOR", act: .resetUpload(after: Self.received))],
            tls: .init(try TLSServerContext(options), isImplicit: true))
        defer { server.stop() }
        let loop = EventLoop(name: "uploads", idleConnections: IdleConnections(limit: 8))
        defer { loop.stop() }
        let plan = FaultPlan([.init(.send, .nth(1), .short(20_000)), .init(.send, .nth(2), .fail(EAGAIN))])
        let isReset = Signal()
        let session = makeFTPSession(on: loop) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        var request = URLRequest(url: try #require(URL(string: server.url("/written.bin"))))
        request.httpMethod = "PUT"
        var number = 0
        request.httpBodyStream = FunctionStream { buffer, room in
            if number == 1 { loop.attach(plan) }
            if number == 2, seesReset { isReset.waitBlocking() }
            guard number < Self.pieces.count, Self.pieces[number] <= room else {
                return number == Self.pieces.count ? 0 : -1
            }
            buffer.update(repeating: 0, count: Self.pieces[number])
            number += 1
            return Self.pieces[number - 1]
        }
        try await withTimeout { [request] in
            async let outcome = session.outcome(request)
            await server.step("end")
            isReset.fire()
            #expect(await outcome == .failed(.networkConnectionLost))
            #expect(plan.injectedCount == 2)
            // The server is still there for others.
            #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
        }
    }
}
