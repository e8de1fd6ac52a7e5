import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@Suite struct MixedReplaceTaskTests {
    private static let route: LoopbackServer.Route = { _ in
        .stream(.chunked, type: "multipart/x-mixed-replace; boundary=frame") { writer in
            for (type, text) in [("text/plain", "one"), ("image/png", "two"), ("text/plain", "three")] {
                try writer.write("--frame\r\nContent-Type: \(type)\r\nContent-Length: \(text.count)\r\n\r\n\(text)\r\n")
            }
            try writer.write("--frame--\r\n")
        }
    }

    /// A response for the whole, and one for each part.
    @Test(arguments: BothVersions.all) func eachPartHasAResponse(_ version: String) async throws {
        let recorder = TransferRecorder()
        try await BothVersions.withServer(version, Self.route, delegate: recorder) { session, server in
            session.dataTask(with: try BothVersions.request(server, "/")).resume()
            let events = await recorder.all()
            #expect(
                events == [
                    "response", "response", "data", "response", "data", "response", "data", "metrics", "complete ok",
                ])
            #expect(recorder.files.snapshot.map { String(decoding: $0, as: UTF8.self) } == ["one", "two", "three"])
        }
    }

    /// The task becomes a download at its first response: the file has the unchanged body.
    @Test func aTaskThatBecomesADownload() async throws {
        let (head, end) = ("--frame\r\nContent-Type: image/png\r\n\r\n", "\r\n--frame--\r\n")
        // More than what may wait for the file.
        let part = [UInt8](repeating: 7, count: 3 << 20)
        let route: LoopbackServer.Route = { _ in
            .stream(.chunked, type: "multipart/x-mixed-replace; boundary=frame") { writer in
                try writer.write(head)
                try writer.write(part)
                try writer.write(end)
            }
        }
        let recorder = TransferRecorder(disposition: .becomeDownload)
        try await BothVersions.withServer("http/1.1", route, delegate: recorder) { session, server in
            session.dataTask(with: try BothVersions.request(server, "/")).resume()
            #expect(await recorder.all() == ["response", "become true", "file", "metrics", "complete ok"])
            let isWhole = recorder.files.snapshot == [Data(head.utf8) + Data(part) + Data(end.utf8)]
            #expect(isWhole)
            #expect(recorder.written.last?[1] == Int64(head.utf8.count + part.count + end.utf8.count))
        }
    }

    /// Parts may state any length; the sum may be greater than the largest integer.
    @Test func theProgressOfPartsOfAnyLength() async throws {
        let route: LoopbackServer.Route = { _ in
            .stream(.chunked, type: "multipart/x-mixed-replace; boundary=frame") { writer in
                for length in ["5", "9000000000000000000", nil, "9223372036854775807", "7", nil] {
                    let field = length.map { "Content-Length: \($0)\r\n" } ?? ""
                    try writer.write("--frame\r\n\(field)\r\nabcde\r\n")
                }
                try writer.write("--frame--\r\n")
            }
        }
        let recorder = TransferRecorder()
        try await BothVersions.withServer("http/1.1", route, delegate: recorder) { session, server in
            let task = session.dataTask(with: try BothVersions.request(server, "/"))
            let progress = task.progress
            task.resume()
            #expect(await recorder.all().last == "complete ok")
            let body = recorder.files.snapshot.map { String(decoding: $0, as: UTF8.self) }.joined()
            #expect(body == String(repeating: "abcde", count: 6))
            #expect(progress.isFinished && progress.completedUnitCount == task.countOfBytesReceived)
        }
    }

    /// Counts the responses that a task has at the ends of the loop's turns.
    private final class TurnCounter: @unchecked Sendable {  // confined to `loop`, but for `count`, which has a lock
        let count = Guarded(0)
        private let loop: EventLoop
        private let task: URLSessionTask
        private let end: Int
        private var last: URLResponse?

        /// - Parameter end: the count at which the task is cancelled.
        init(_ loop: EventLoop, _ task: URLSessionTask, cancelsAt end: Int = .max) {
            (self.loop, self.task, self.end) = (loop, task, end)
        }

        func turnDidEnd() {
            if let response = task.response, response !== last {
                last = response
                let count = count.withLock { count in
                    count += 1
                    return count
                }
                if count == end { task.cancel() }
            }
            if task.state != .completed { loop.executeAtEndOfTurn { self.turnDidEnd() } }
        }
    }

    /// A server can send thousands of parts in one piece: sockets and timers have their turns among them, and the program
    /// can cancel the task.
    @Test(arguments: [false, true], [Int.max, 10]) func manySmallParts(isCoded: Bool, cancelsAt end: Int) async throws {
        let body = Array((String(repeating: "--b\n\n", count: 10_000) + "--b\n\nx\n--b--").utf8)
        let (result, responses) = try await Self.load(cancelsAt: end) { _ in
            let type = "multipart/x-mixed-replace; boundary=b"
            return isCoded ? try .gzip(body, type: type) : .bytes(body, type: type)
        }
        let isCancelled = end < .max
        #expect(result == (isCancelled ? "-999" : "x"))
        // A turn has 32 parts at most, and each of them has its own response.
        #expect(isCancelled ? responses < 200 : responses > 200)
    }

    /// Each part has the fields of the whole response, too: a turn has fewer parts.
    @Test func manySmallPartsOfManyFields() async throws {
        let body = Array((String(repeating: "--b\n\n", count: 2000) + "--b\n\nx\n--b--").utf8)
        let (result, responses) = try await Self.load { _ in
            var response = ServerResponse.bytes(body, type: "multipart/x-mixed-replace; boundary=b")
            for index in 0..<900 { response.fields.append(name: "x-\(index)", value: "y") }
            return response
        }
        #expect(result == "x" && responses > 200)
    }

    /// Loads what the server sends. Returns the body, or the error's code, and the number of responses that the task
    /// has had at the ends of the loop's turns.
    private static func load(
        cancelsAt end: Int = .max, _ route: @escaping LoopbackServer.Route
    ) async throws -> (result: String?, responses: Int) {
        let server = try LoopbackServer(route: route)
        defer { server.stop() }
        let loop = EventLoop(name: "parts")
        defer { loop.stop() }
        return try await withTimeout {
            let session = makeSession(on: loop)
            defer { session.invalidateAndCancel() }
            let bodies = Recorder<String>()
            let task = session.dataTask(with: try #require(URL(string: server.url()))) { data, _, error in
                bodies.append(
                    (error as? URLError).map { "\($0.code.rawValue)" }
                        ?? String(decoding: data ?? Data(), as: UTF8.self))
            }
            let counter = TurnCounter(loop, task, cancelsAt: end)
            loop.execute { counter.turnDidEnd() }
            task.resume()
            let result = await bodies.element(at: 0)
            return (result, counter.count.withLock { $0 })
        }
    }

    @Test func whoeverWantsAllGetsTheLastPart() async throws {
        let server = try LoopbackServer(route: Self.route)
        defer { server.stop() }
        try await withTimeout {
            let session = makeSession()
            let request = try BothVersions.request(server, "/")
            let (data, response) = try await session.data(for: request)
            #expect(String(decoding: data, as: UTF8.self) == "three")
            #expect(response.mimeType == "text/plain" && response.expectedContentLength == 5)
            // A file has all of it.
            let (location, whole) = try await session.download(for: request)
            #expect(whole.mimeType == "multipart/x-mixed-replace")
            #expect(try String(contentsOf: location, encoding: .utf8).contains("two"))
            try FileManager.default.removeItem(at: location)
        }
    }
}
