import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitDataURL
import TestSupport
import Testing

/// The shared cases, through the parser, and some through a session.
@Suite struct DataURLTests {
    /// An array of the shared data: an input, and what is expected of it.
    private func cases(_ file: String) throws -> [[Any]] {
        let data = try Data(contentsOf: Conformance.url("data-url/\(file)"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [[Any]])
    }

    private func bytes(_ value: Any?) -> [UInt8]? { (value as? [NSNumber])?.map(\.uint8Value) }

    @Test func urls() throws {
        let cases = try cases("data-urls.json")
        #expect(cases.count == 78)
        for test in cases {
            let input = try #require(test[0] as? String)
            let result = DataURL(input)
            if let type = test[1] as? String {
                #expect(result.map { "\($0.mimeType)" } == type, "\(input)")
                #expect(result?.body == bytes(test[2]), "\(input)")
            } else {
                #expect(result == nil, "\(input)")
            }
        }
    }

    @Test func base64() throws {
        let cases = try cases("base64.json")
        #expect(cases.count == 80)
        for test in cases {
            let input = try #require(test[0] as? String)
            #expect(ForgivingBase64.decode(input.utf8) == bytes(test[1]), "\(input)")
        }
    }

    private struct Load: Sendable {
        var url: String
        var body: String
        var type: String
        var encoding: String?
    }

    @Test func throughASession() async throws {
        let loads = [
            Load(url: "data:,hello%20there", body: "hello there", type: "text/plain", encoding: "US-ASCII"),
            Load(url: "DATA:text/html;charset=utf-8,%3Cp%3E#x", body: "<p>", type: "text/html", encoding: "utf-8"),
            Load(url: "data:image/png;base64,aGVsbG8=", body: "hello", type: "image/png"),
            Load(url: "data:,", body: "", type: "text/plain", encoding: "US-ASCII"),
        ]
        let session = URLSession(configuration: .ephemeral)
        for load in loads {
            let (data, response) = try await session.data(from: try #require(URL(string: load.url)))
            #expect(String(decoding: data, as: UTF8.self) == load.body, "\(load.url)")
            #expect(response.mimeType == load.type && response.textEncodingName == load.encoding, "\(load.url)")
            #expect(response.expectedContentLength == Int64(load.body.utf8.count), "\(load.url)")
        }
        for bad in ["data:text/plain", "data:;base64,a"] {
            let error = await #expect(throws: URLError.self) {
                try await session.data(from: try #require(URL(string: bad)))
            }
            #expect(error?.code == .badURL && error?.failingURL?.absoluteString == bad)
        }
    }
}
