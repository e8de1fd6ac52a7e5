import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers
@testable import LoadingKitTransport

#if Persistence
    @Suite("Transfers that wait for a network")
    struct NetworkWaitTests {
        @Test("a transfer that waits for a network holds up no other, and goes on when there is one")
        func waits() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                let hasNetwork = Box(false)
                harness.makeConfiguration.value = { Self.configuration(hasNetwork) }
                let service = try harness.start()
                defer { service.stop() }
                service.loop.execute {
                    service.queue = TransferQueue(TransferQueue.Limits(perSession: 1, inAll: 1))
                }
                let program = TestProgram(service, try harness.description())
                try await program.download(1, "late:file")
                try await program.download(2, server.url)
                #expect(try await program.end(of: 2).error == nil)
                let stages = await service.overviewNow().first?.transfers.map(\.stage)
                #expect(stages == [.waitingForConnectivity, .ended])
                hasNetwork.value = true
                service.loop.execute {
                    for core in service.sessions.values.compactMap({ $0.urlSession?.core }) {
                        core.loop.execute { core.networks.report() }
                    }
                }
                #expect(try await program.end(of: 1).error == nil)
                let started: Int = await withCheckedContinuation { done in
                    service.loop.execute { done.resume(returning: service.queue.started) }
                }
                #expect(started == 0)
            }
        }

        /// A configuration with a scheme whose server is reached while there is a network.
        private static func configuration(_ hasNetwork: Box<Bool>) -> URLSessionConfiguration {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.register(scheme: "late") { load in
                guard hasNetwork.value else { throw URLError(.notConnectedToInternet) }
                try await load.receive(
                    URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
            }
            return configuration
        }
    }
#endif
