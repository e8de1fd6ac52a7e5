import Foundation
import Interceptors
import LoadingKit
import LoadingKitTesting
import Testing

/// What a session loads whose requests pass through an interceptor, and are answered by stubs.
func load(
    _ address: String, through interceptor: any LoadInterceptor, _ stubs: StubSet
) async throws -> (data: Data, response: URLResponse) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.interceptors = [interceptor]
    stubs.install(in: configuration)
    let session = URLSession(configuration: configuration)
    defer { session.invalidateAndCancel() }
    return try await session.data(from: try #require(URL(string: address)))
}

@Test(arguments: [
    ("https://api.example.com/a", "secret"), ("https://API.Example.com/a", "secret"),
    ("http://api.example.com/a", nil), ("https://example.com/a", nil), ("https://api.example.com.example.org/a", nil),
])
func theKeyIsForOneHost(_ address: String, _ expected: String?) async throws {
    let stubs = StubSet()
    stubs.add(always: .text("hello"))
    _ = try await load(address, through: KeyField("secret", for: "API.example.com"), stubs)
    #expect(stubs.requests.map { $0.value(forField: "X-API-Key") } == [expected])
}

@Test func theKeyIsNotSentToWhereARedirectLeads() async throws {
    let stubs = StubSet()
    stubs.add(.host("api.example.com"), .path("/old"), always: .redirect(to: "/new"))
    stubs.add(.host("api.example.com"), .path("/new"), always: .redirect(to: "https://other.example.com/"))
    stubs.add(.host("other.example.com"), always: .text("hello"))
    let interceptor = KeyField("secret", for: "api.example.com")
    let (data, _) = try await load("https://api.example.com/old", through: interceptor, stubs)
    #expect(data == Data("hello".utf8))
    #expect(stubs.requests.map { $0.value(forField: "X-API-Key") } == ["secret", "secret", nil])
}
