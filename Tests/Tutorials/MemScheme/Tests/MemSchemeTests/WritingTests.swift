import Foundation
import LoadingKit
import MemScheme
import Testing

@Test func uploads() async throws {
    let store = MemStore()
    for (method, body, status, expected) in [
        ("PUT", "one", 201, "one"), ("POST", ", two", 200, "one, two"), ("PUT", "three", 200, "three"),
    ] {
        let (_, response) = try await load("mem:notes", from: store) { request in
            request.httpMethod = method
            request.httpBody = Data(body.utf8)
            request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        }
        #expect(response.statusCode == status)
        #expect(store["notes"]?.data == Data(expected.utf8) && store["notes"]?.type == "text/plain")
    }
}
