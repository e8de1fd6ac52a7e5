import Foundation
import Interceptors
import LoadingKit
import LoadingKitTesting
import Synchronization
import Testing

@Test func aBusyServerIsTriedAgain() async throws {
    let stubs = StubSet()
    stubs.add(inOrder: .status(503), .fault(.connectionReset), .text("done"))
    let pauses = Mutex<[Int]>([])
    let retry = Retry { attempt in pauses.withLock { $0.append(attempt) } }
    let (data, _) = try await load("https://example.com/", through: retry, stubs)
    #expect(data == Data("done".utf8))
    #expect(pauses.withLock { $0 } == [1, 2])
    try stubs.verify()
}

@Test func theLastAttemptIsTheResult() async throws {
    let stubs = StubSet()
    stubs.add(.path("/busy"), inOrder: .status(503), .status(503))
    stubs.add(.path("/gone"), times: 2, .fault(.connectionReset))
    let retry = Retry(attempts: 2) { _ in }
    let (_, response) = try await load("https://example.com/busy", through: retry, stubs)
    #expect((response as? HTTPURLResponse)?.statusCode == 503)
    let error = await #expect(throws: URLError.self) {
        try await load("https://example.com/gone", through: retry, stubs)
    }
    #expect(error?.code == .networkConnectionLost)
    try stubs.verify()
}

/// What has begun to arrive is not loaded a second time.
@Test func aBrokenBodyIsNotTriedAgain() async throws {
    let stubs = StubSet()
    stubs.add(times: 1, .text("hello").failing(.truncatedBody(after: 2)))
    await #expect(throws: URLError.self) {
        try await load("https://example.com/", through: Retry { _ in }, stubs)
    }
    try stubs.verify()
}
