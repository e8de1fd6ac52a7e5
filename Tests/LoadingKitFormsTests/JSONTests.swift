import Foundation
import LoadingKit
import LoadingKitForms
import LoadingKitLoopbackServer
import Testing

@Suite struct JSONTests {
    struct Point: Codable, Equatable { var x: Int, y: Int }

    @Test func aValueGoesAndComes() async throws {
        let server = try LoopbackServer { request in
            let types = [request.fields[name: "Content-Type"], request.fields[name: "Accept"]]
            guard types == ["application/json", "application/json"] else { return .text("\(types)", status: 400) }
            return .bytes(request.body, type: "application/json", status: 201)
        }
        defer { server.stop() }
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(server.url()))
        try request.setJSON(Point(x: 1, y: 2))
        #expect(request.httpMethod == "POST")
        #expect(try await session.json(Point.self, for: request) == Point(x: 1, y: 2))
        request.httpMethod = "PATCH"
        try request.setJSON([1, 2])
        let numbers: [Int] = try await session.json(for: request)
        #expect(numbers == [1, 2] && server.requests.last?.method == "PATCH")
        #expect(throws: EncodingError.self) { try request.setJSON(Double.nan) }
        #expect(request.httpBody == Data("[1,2]".utf8))
    }

    @Test func errorsHoldTheStatusAndTheFirstBytes() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/error": .text("no such\nuser" + String(repeating: ".", count: 5_000), status: 404)
            case "/page": .bytes(Array("<html>".utf8), type: "text/html")
            default: .text("{\"x\":1}")
            }
        }
        defer { server.stop() }
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let missing = await #expect(throws: JSONLoadError.self) {
            try await session.json(Point.self, from: url(server.url("/error")))
        }
        #expect(missing?.status == 404 && missing?.firstBytes.count == 1024 && missing?.bodySize == 5_012)
        #expect(
            missing?.description.hasPrefix("the response with status 404 is no success; 5012 bytes of text/plain")
                == true)
        #expect(missing?.description.contains("no such user") == true)
        let page = await #expect(throws: JSONLoadError.self) {
            try await session.json(Point.self, from: url(server.url("/page")))
        }
        #expect(page?.status == 200 && page?.firstBytes == Data("<html>".utf8) && page?.mimeType == "text/html")
        let wrong = await #expect(throws: JSONLoadError.self) {
            try await session.json(Point.self, from: url(server.url("/half")))
        }
        guard case .undecodable(let error) = wrong?.kind, error is DecodingError else {
            Issue.record("\(String(describing: wrong))")
            return
        }
        // A status may be asked for; other schemes have none.
        let ok = try await session.json([String: Int].self, from: url(server.url("/half")), statuses: 200..<201)
        #expect(ok == ["x": 1])
        #expect(try await session.json([Int].self, from: url("data:,[3]")) == [3])
    }
}
