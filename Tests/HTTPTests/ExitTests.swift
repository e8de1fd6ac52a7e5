import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Programs that end while their loads go on.
@Suite struct ExitTests {
    private static let ways = ["return", "exit", "handler", "thread"]

    /// OpenSSL frees memory at a process's end that its threads still use: about one of a hundred programs ended by a signal.
    @Test func programsThatEndInMidWorkEndInOrder() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: try authority.issue()) { request in
            .bytes([UInt8](repeating: 0x61, count: 20_000)).adding(
                "Set-Cookie", "n\(request.connection % 10)=a; Max-Age=1000"
            )
            .closing()
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let path = try folder.write(authority.certificatePEM, to: "authority.pem").path
        let url = server.url(host: "localhost")
        let probe = try ProgramRun.executable("ExitProbe")
        let statuses = try await withThrowingTaskGroup(of: [Int32].self) { group in
            for worker in 0..<4 {
                group.addTask {
                    try await onThread {
                        try (0..<125).map { number in
                            let way = Self.ways[number % Self.ways.count]
                            let delay = "\((number * 4 + worker) * 7_919 % 10_000)"
                            return try ChildProcess(
                                probe, [way, delay, url, path],
                                environment: ["XDG_DATA_HOME": folder.path, "XDG_CACHE_HOME": folder.path]
                            ).waitForExit()
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(statuses.count == 500)
        #expect(statuses.filter { $0 != 0 } == [])
    }
}
