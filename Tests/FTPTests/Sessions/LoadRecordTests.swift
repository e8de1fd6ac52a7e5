import Foundation
import LoadingKit
import TestSupport
import Testing

/// The steps in the errors of ftp loads that fail.
@Suite struct LoadRecordTests {
    private static func lines(_ session: URLSession, _ url: String) async throws -> [String] {
        let url = try #require(URL(string: url))
        let error = try await #require(throws: URLError.self) { try await session.data(from: url) }
        return stepLines(error.loadRecord)
    }

    @Test func aRefusedConnectionHasItsAddress() async throws {
        let port = try RefusingPort()
        let lines = try await Self.lines(makeFTPSession(), "ftp://ada:secret@127.0.0.1:\(port.number)/file")
        #expect(
            lines == [
                "GET ftp://127.0.0.1:PORT", "the task begins", "the load begins",
                "connection 1: connecting to 127.0.0.1:PORT",
                "connection 1: no connection to 127.0.0.1: Connection refused",
                "connection 1: failed while connecting", "connection 1: no connection was opened",
            ])
    }

    @Test func aLostConnectionHasTheRetry() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
        server.add([.init(step: "EPSV", act: .reset), .init(step: "PASS", act: .reset)])
        let lines = try await Self.lines(session, server.url())
        let numbers = lines.compactMap { $0.firstMatch(of: /connection (\d+): the request is sent on a used/)?.1 }
        let control = try #require(numbers.first)
        #expect(
            lines.filter { !$0.contains("connect") || $0.hasPrefix("connection \(control)") || $0.contains("lost") }
                == [
                    "GET ftp://127.0.0.1:PORT", "the task begins", "the load begins",
                    "connection \(control): the request is sent on a used connection "
                        + "(opened earlier, 1 request before this task)",
                    "connection \(control): closed by the peer, or failed",
                    "the request is sent again: the connection was lost before the server answered",
                ])
        #expect(lines.last?.hasSuffix("no connection was opened") == true, "\(lines)")
    }

    @Test func aDataConnectionThatIsRefusedIsThere() async throws {
        let server = try FaultyFTPServer(["EPSV", "PASV"].map { .init(step: $0, act: .deadPort) })
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        let lines = try await Self.lines(session, server.url())
        #expect(lines.contains { $0.hasSuffix("no connection to 127.0.0.1: Connection refused") }, "\(lines)")
    }
}
