/// The tests with ordinary loads.
struct LoadTestsTemplate {
    let text: String

    init(_ names: HandlerNames) {
        text = """
            \(SourceText.imports("Foundation", "LoadingKit", "Testing", names.module))
            /// Loads as a program does them.
            @Suite(.timeLimit(.minutes(1))) struct LoadTests {
                private static func load(
                    _ address: String, method: String = "GET"
                ) async throws -> (Data, URLResponse) {
                    let configuration = URLSessionConfiguration.ephemeral
                    configuration.add\(names.handler)()
                    let session = URLSession(configuration: configuration)
                    defer { session.invalidateAndCancel() }
                    var request = URLRequest(url: try #require(URL(string: address)))
                    request.httpMethod = method
                    return try await session.data(for: request)
                }

                @Test(arguments: [
                    ("\(names.scheme):hello", "hello\\n"),
                    ("\(names.scheme.uppercased()):hello", "hello\\n"),
                    ("\(names.scheme):two%20words", "two words\\n"),
                    ("\(names.scheme):a?count=3", "a\\na\\na\\n"),
                    ("\(names.scheme):a?count=0", ""),
                ])
                func text(_ address: String, _ expected: String) async throws {
                    let (data, response) = try await Self.load(address)
                    #expect(String(decoding: data, as: UTF8.self) == expected)
                    #expect(response.mimeType == "text/plain")
                    #expect(response.expectedContentLength == Int64(expected.utf8.count))
                }

                /// The body is longer than a piece, and ends with a shorter one.
                @Test func aLongBody() async throws {
                    let (data, _) = try await Self.load("\(names.scheme):hello?count=50001")
                    #expect(data == Data(String(repeating: "hello\\n", count: 50_001).utf8))
                }

                @Test(arguments: ["-1", "1000001", "many"])
                func invalidCount(_ count: String) async throws {
                    await #expect(throws: \(names.error).countInvalid(count)) {
                        try await Self.load("\(names.scheme):a?count=\\(count)")
                    }
                }

                @Test(arguments: ["\(names.scheme):?count=1", "\(names.scheme)://host/a"])
                func noText(_ address: String) async throws {
                    let url = try #require(URL(string: address))
                    await #expect(throws: \(names.error).textMissing(url)) {
                        try await Self.load(address)
                    }
                }

                @Test func otherMethods() async throws {
                    await #expect(throws: \(names.error).methodNotSupported("POST")) {
                        try await Self.load("\(names.scheme):hello", method: "POST")
                    }
                }
            }

            """
    }
}
