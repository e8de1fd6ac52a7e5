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
        let plan = Self.makePlan()
        let isReset = Signal()
        let session = makeFTPSession(on: loop) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        let request = try Self.makeUpload(to: server, plan, on: loop) { if seesReset { isReset.waitBlocking() } }
        try await withTimeout {
            async let outcome = session.outcome(request)
            await server.step("end")
            isReset.fire()
            #expect(await outcome == .failed(.networkConnectionLost))
            #expect(plan.injectedCount == 2)
            // The server is still there for others.
            #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
        }
    }

    /// A server may report completion before it has all. TLS keeps the last bytes then until the server's byte has the
    /// client's loop send them.
    @Test func keptBytesAreSentAfterAnEarlyCompletion() async throws {
        let authority = try CertificateAuthority()
        var options = TLSServerOptions(try authority.issue(), applicationProtocols: [])
        options.allowsResumption = false
        let server = try FaultyFTPServer(
            [.init(step: "STOR", act: .endBeforeUpload(byteAfter: Self.received))],
            tls: .init(try TLSServerContext(options), isImplicit: true))
        defer { server.stop() }
        let loop = EventLoop(name: "uploads", idleConnections: IdleConnections(limit: 8))
        defer { loop.stop() }
        let plan = Self.makePlan()
        let session = makeFTPSession(on: loop) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        let request = try Self.makeUpload(to: server, plan, on: loop)
        try await withTimeout {
            #expect(await session.outcome(request) == .loaded([]))
            #expect(plan.injectedCount == 2)
            // The server has got the end, and the control connection carries on.
            #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
            #expect(!server.steps.contains("lost") && server.steps.filter { $0 == "PASS" }.count == 1)
        }
    }

    /// The socket takes the first record of the second piece, and a part of the second one.
    private static func makePlan() -> FaultPlan {
        FaultPlan([.init(.send, .nth(1), .short(20_000)), .init(.send, .nth(2), .fail(EAGAIN))])
    }

    /// - Parameter beforeEnd: called before the body's end is given.
    private static func makeUpload(
        to server: FaultyFTPServer, _ plan: FaultPlan, on loop: EventLoop, beforeEnd: @escaping () -> Void = {}
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: server.url("/written.bin"))))
        request.httpMethod = "PUT"
        var number = 0
        request.httpBodyStream = FunctionStream { buffer, room in
            if number == 1 { loop.attach(plan) }
            if number == 2 { beforeEnd() }
            guard number < pieces.count, pieces[number] <= room else { return number == pieces.count ? 0 : -1 }
            buffer.update(repeating: 0, count: pieces[number])
            number += 1
            return pieces[number - 1]
        }
        return request
    }
}
