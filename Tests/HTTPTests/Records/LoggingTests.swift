import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import LoadingKitTransport
import Logging
import TestSupport
import Testing

/// What a session's logger gets, by its level.
@Suite struct LoggingTests {
    /// Loads a resource by a redirect, and from a port that refuses.
    private static func lines(_ level: Logger.Level) async throws -> [KeptLog.Line] {
        let lines = Recorder<KeptLog.Line>()
        let port = try RefusingPort()
        let server = try LoopbackServer { request in
            request.target.hasPrefix("/from") ? .redirect(to: "/to?query=secret") : .text("hello")
        }
        defer { server.stop() }
        let session = makeSession(on: .still()) { $0.logger = KeptLog.logger(lines, level) }
        let url = server.url("/from?query=secret").replacingOccurrences(of: "//", with: "//user:secret@")
        #expect(await session.outcome(URLRequest(url: try #require(URL(string: url)))) == .ok("hello"))
        let refused = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port.number)/gone#secret")))
        #expect(await session.outcome(refused) == .failed(.cannotConnectToHost))
        await session.finishTasks()
        return lines.snapshot
    }

    private static let info = ["the task has failed with URLError -1004"]
    private static let debug = [
        "open for HTTP/1.1", "redirected with status 302", "the task has ended, with 5 bytes",
        "no connection to 127.0.0.1: Connection refused", "failed while connecting", "no connection was opened",
    ]

    @Test func levelsHaveTheirEvents() async throws {
        try await withTimeout {
            for level in [Logger.Level.critical, .error, .warning, .notice] {
                #expect(try await Self.lines(level).isEmpty, "\(level)")
            }
            #expect(try await Self.lines(.info).map(\.message) == Self.info)
            let debug = try await Self.lines(.debug).map(\.message)
            #expect(debug.filter { !$0.hasPrefix("closed") && !Self.info.contains($0) } == Self.debug)
            let trace = try await Self.lines(.trace)
            #expect(Set(Self.debug + Self.info).isSubset(of: trace.map(\.message)))
            #expect(trace.contains { $0.message == "the request is sent on a new connection" && $0.level == .trace })
        }
    }

    @Test func metadataHasFixedKeys() async throws {
        try await withTimeout {
            let lines = try await Self.lines(.trace)
            let keys = Set(lines.flatMap(\.metadata.keys))
            #expect(keys == ["session", "task", "connection", "url", "status", "code", "detail"])
            #expect(Set(lines.map { $0.metadata["session"] }).count == 1)
            let failure = try #require(lines.first { $0.level == .info })
            #expect(failure.metadata["task"] == "2" && failure.metadata["code"] == "-1004")
            #expect(failure.metadata["url"]?.wholeMatch(of: #/http:\/\/127\.0\.0\.1:\d+\/gone/#) != nil)
            #expect(failure.metadata["detail"]?.contains("connection refused") == true)
            let redirect = try #require(lines.first { $0.message.hasPrefix("redirected") })
            #expect(redirect.metadata["status"] == "302")
            #expect(redirect.metadata["url"]?.wholeMatch(of: #/http:\/\/127\.0\.0\.1:\d+\/from/#) != nil)
        }
    }

    /// Of a log handler: assigns the next logger when it is destroyed, as a program does that makes a session then.
    private final class Parting: Sendable {
        private let gone: Signal

        init(_ gone: Signal) { self.gone = gone }

        deinit {
            StoreLog.use(Logger(label: "next", factory: { _ in SwiftLogNoOpLogHandler() }))
            gone.fire()
        }
    }

    private struct PartingHandler: LogHandler {
        let parting: Parting
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.critical

        init(_ parting: Parting) { self.parting = parting }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {}
    }

    /// The logger of the stores is replaced by that of each new session.
    @Test func aReplacedLoggerMayMakeSessions() async throws {
        let gone = Signal()
        StoreLog.use(Logger(label: "parting", factory: { _ in PartingHandler(Parting(gone)) }))
        StoreLog.use(Logger(label: "after", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await withTimeout { await gone.wait() }
    }
}
