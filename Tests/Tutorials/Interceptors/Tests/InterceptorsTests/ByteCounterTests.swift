import Foundation
import Interceptors
import LoadingKit
import LoadingKitTesting
import Testing

@Test func bytesAreCounted() async throws {
    let stubs = StubSet()
    let body = Data(repeating: 7, count: 300_000)
    stubs.add(.path("/old"), always: .redirect(to: "/new"))
    stubs.add(.path("/new"), always: .data(body))
    let counter = ByteCounter()
    let (data, _) = try await load("https://example.com/old", through: counter, stubs)
    #expect(data == body && counter.count == 300_000)
    _ = try await load("https://example.com/new", through: counter, stubs)
    #expect(counter.count == 600_000)
}
