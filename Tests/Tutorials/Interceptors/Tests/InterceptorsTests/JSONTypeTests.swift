import Foundation
import Interceptors
import LoadingKit
import LoadingKitTesting
import Testing

@Test(arguments: [
    ("https://example.com/a.json", "text/plain", "application/json"),
    ("https://example.com/a.json", "text/html", "text/html"), ("https://example.com/a.txt", "text/plain", "text/plain"),
])
func theTypeIsCorrected(_ address: String, _ sent: String, _ expected: String) async throws {
    let stubs = StubSet()
    stubs.add(always: .data(Data("[1, 2]".utf8), type: sent).adding("X-Other", "kept"))
    let (data, response) = try await load(address, through: JSONType(), stubs)
    #expect(response.mimeType == expected && data == Data("[1, 2]".utf8))
    #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Other") == "kept")
}
