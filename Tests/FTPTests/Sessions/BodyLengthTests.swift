import Foundation
import LoadingKit
import TestSupport
import Testing

/// The end of the data connection tells the server that it has the whole file: a stream of another length than its
/// request states is an error.
@Suite struct BodyLengthTests {
    @Test(arguments: ["PUT", "APPE"], [(9, false), (10, true), (11, false)])
    func aStreamHasTheLengthThatItsRequestStates(method: String, _ length: (stated: Int, isRight: Bool)) async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession()
        var request = URLRequest(url: try #require(URL(string: server.url("/written.bin"))))
        request.httpMethod = method
        request.setValue("\(length.stated)", forHTTPHeaderField: "Content-Length")
        request.httpBodyStream = InputStream(data: Data("0123456789".utf8))
        try await withTimeout { [request] in
            let outcome = await session.outcome(request)
            #expect(outcome == (length.isRight ? .loaded([]) : .failed(.requestBodyStreamExhausted)))
            #expect(await server.step(of: ["end", "lost"]) == (length.isRight ? "end" : "lost"))
            // The server is still there for others.
            #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
        }
    }
}
