import Foundation
import LoadingKit
import MemScheme
import Testing

@Test func statuses() async throws {
    let store = MemStore()
    #expect(try await load("mem:nothing", from: store).response.statusCode == 404)
    let (_, response) = try await load("mem:nothing", from: store) { $0.httpMethod = "DELETE" }
    #expect(response.statusCode == 405 && response.value(forHTTPHeaderField: "Allow") == "GET, HEAD, PUT, POST")
}

@Test func errors() async throws {
    let store = MemStore(capacity: 3)
    for address in ["mem:?", "mem://host/notes"] {
        let url = try #require(URL(string: address))
        await #expect(throws: MemError.nameMissing(url)) { try await load(address, from: store) }
    }
    await #expect(throws: MemError.noRoom(capacity: 3)) {
        try await load("mem:notes", from: store) { request in
            request.httpMethod = "PUT"
            request.httpBody = Data("four".utf8)
        }
    }
    #expect(store["notes"] == nil)
}
