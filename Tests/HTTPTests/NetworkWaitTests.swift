import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKit
@testable import LoadingKitCore
@testable import LoadingKitTransport

/// Tasks that wait for a network.
@Suite struct NetworkWaitTests {
    /// The networks change during the attempt that fails, and not again.
    @Test(arguments: [URLError.Code.notConnectedToInternet, .dnsLookupFailed])
    func aChangeDuringTheAttemptIsNotMissed(_ code: URLError.Code) async throws {
        let session = Box<URLSession?>(nil)
        let attempts = Recorder<Int>()
        // A loop of its own, as a loop's sessions share what reports changes.
        let loop = EventLoop(name: "networks")
        defer { loop.stop() }
        session.value = makeSession(on: loop) {
            $0.waitsForConnectivity = true
            $0.register(scheme: "late") { load in
                attempts.append(1)
                if attempts.count == 1, let core = session.value?.core {
                    await withCheckedContinuation { continuation in
                        loop.execute {
                            core.networks.report()
                            continuation.resume()
                        }
                    }
                    throw URLError(code)
                }
                try await load.receive(
                    URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
            }
        }
        defer { session.value?.invalidateAndCancel() }
        try await withTimeout {
            let url = try #require(URL(string: "late:"))
            _ = try await session.value?.data(from: url)
            #expect(attempts.count == 2)
        }
    }

    /// Without a change a name that is not found is an error at once.
    @Test func aNameThatIsNotFoundIsNotWaitedFor() async throws {
        let attempts = Recorder<Int>()
        // Another test reports a change of the networks of its session's loop.
        let loop = EventLoop(name: "not found")
        defer { loop.stop() }
        let session = makeSession(on: loop) {
            $0.waitsForConnectivity = true
            $0.register(scheme: "late") { _ in
                attempts.append(1)
                throw URLError(.cannotFindHost)
            }
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let url = try #require(URL(string: "late:"))
            let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
            #expect(error?.code == .cannotFindHost && attempts.count == 1)
        }
    }
}
