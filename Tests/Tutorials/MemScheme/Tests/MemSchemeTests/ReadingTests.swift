import Foundation
import LoadingKit
import MemScheme
import Testing

/// What the test's session loads from a store.
func load(
    _ address: String, from store: MemStore, _ change: (inout URLRequest) -> Void = { _ in }
) async throws -> (data: Data, response: HTTPURLResponse) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.addMem(store)
    let session = URLSession(configuration: configuration)
    defer { session.invalidateAndCancel() }
    var request = URLRequest(url: try #require(URL(string: address)))
    change(&request)
    let (data, response) = try await session.data(for: request)
    return (data, try #require(response as? HTTPURLResponse))
}

@Test func anEntryIsRead() async throws {
    let store = MemStore()
    try store.write(Data("hello".utf8), to: "greeting", type: "text/plain")
    let (data, response) = try await load("mem:greeting", from: store)
    #expect(response.statusCode == 200 && response.mimeType == "text/plain")
    #expect(data == Data("hello".utf8))
}

@Test func headHasNoBody() async throws {
    let store = MemStore()
    try store.write(Data("hello".utf8), to: "greeting", type: "text/plain")
    let (data, response) = try await load("mem:greeting", from: store) { $0.httpMethod = "HEAD" }
    #expect(data.isEmpty && response.expectedContentLength == 5)
}
