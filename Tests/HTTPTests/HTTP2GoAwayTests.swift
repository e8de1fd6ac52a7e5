import Foundation
import LoadingKit
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// GOAWAY at every stream, at each point of its answer: what the server did not process is sent again in its order, what it
/// may have processed is not sent twice, and nothing is lost (RFC 9113 §6.8).
@Suite struct HTTP2GoAwayTests {
    static let count = 4

    /// Where in the answer to the last stream that the server processes.
    enum Point: CaseIterable, Sendable {
        case beforeHeaders, afterHeaders, inData, afterEndStream
    }

    struct Script: Sendable {
        /// How many streams the server processes.
        let processed: Int
        let point: Point
        let closes: Bool

        /// Whether the last stream that is processed has its whole answer.
        var isComplete: Bool { !closes || point == .afterEndStream }
    }

    /// Follows the script on its first connection, once all requests have come whole; answers all on the others.
    private static func serve(
        _ socket: StreamSocket, _ number: Int, _ script: Script, _ seen: Recorder<String>
    ) throws {
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = 100
        var machine = HTTP2ConnectionStateMachine(role: .server, settings: settings, connectionWindow: 1 << 20)
        var output: [UInt8] = []
        machine.sendPreface(to: &output)
        try socket.write(output)
        var paths: [HTTP2StreamID: String] = [:]
        var complete: [(stream: HTTP2StreamID, path: String)] = []
        while true {
            let bytes = try socket.read()
            if bytes.isEmpty { return }
            var ended: [HTTP2StreamID] = []
            try bytes.withUnsafeBytes { input in
                var position = 0
                while let event = try machine.receive(input, &position) {
                    switch event {
                    case .headers(let stream, .request(let head), let isEnd):
                        paths[stream] = head.path
                        if isEnd { ended.append(stream) }
                    case .data(let stream, _, let size, let isEnd):
                        machine.didConsume(size, on: stream)
                        if isEnd { ended.append(stream) }
                    default: break
                    }
                }
            }
            output = []
            machine.drainControlBytes(into: &output)
            if !output.isEmpty { try socket.write(output) }
            for stream in ended {
                let path = paths[stream] ?? ""
                seen.append("\(number) \(path)")
                complete.append((stream, path))
                if number > 0 { try socket.write(answer(stream, path)) }
            }
            guard number == 0, complete.count == count, !ended.isEmpty else { continue }
            try socket.write(follow(script, complete.sorted { $0.stream.rawValue < $1.stream.rawValue }))
            // The client reads to here before it hears of the connection's end.
            if script.closes { socket.halfClose() }
        }
    }

    private static func follow(_ script: Script, _ requests: [(stream: HTTP2StreamID, path: String)]) -> [UInt8] {
        guard let last = requests.prefix(script.processed).last else { return goAway(0) }
        var bytes = requests.prefix(script.processed - 1).flatMap { answer($0.stream, $0.path) }
        let parts = [head(last.stream), data(last.stream, "/", isEnd: false)]
        let end = data(last.stream, String(last.path.dropFirst()), isEnd: true)
        let said =
            switch script.point {
            case .beforeHeaders: 0
            case .afterHeaders: 1
            case .inData, .afterEndStream: 2
            }
        bytes += parts.prefix(said).flatMap { $0 }
        if script.point == .afterEndStream { bytes += end }
        bytes += goAway(last.stream)
        if script.closes { return bytes }
        bytes += parts.dropFirst(said).flatMap { $0 }
        return script.point == .afterEndStream ? bytes : bytes + end
    }

    private static func frames(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var output: [UInt8] = []
        write(&output)
        return output
    }

    /// `:status: 200` is number 8 of HPACK's static table.
    private static func head(_ stream: HTTP2StreamID) -> [UInt8] {
        frames { output in
            [UInt8](arrayLiteral: 0x88).withUnsafeBytes {
                HTTP2FrameEncoder.headers($0, stream: stream, endStream: false, to: &output)
            }
        }
    }

    private static func data(_ stream: HTTP2StreamID, _ text: String, isEnd: Bool) -> [UInt8] {
        frames { output in
            Array(text.utf8).withUnsafeBytes {
                HTTP2FrameEncoder.data($0, stream: stream, endStream: isEnd, to: &output)
            }
        }
    }

    private static func answer(_ stream: HTTP2StreamID, _ path: String) -> [UInt8] {
        head(stream) + data(stream, path, isEnd: true)
    }

    private static func goAway(_ last: HTTP2StreamID) -> [UInt8] {
        frames { HTTP2FrameEncoder.goAway(lastStream: last, .noError, to: &$0) }
    }

    @Test(arguments: 0...count, Point.allCases) func atEachStream(_ processed: Int, _ point: Point) async throws {
        for closes in [false, true] {
            for method in ["GET", "POST"] {
                try await Self.check(Script(processed: processed, point: point, closes: closes), method)
            }
        }
    }

    private static func check(_ script: Script, _ method: String) async throws {
        let seen = Recorder<String>()
        let peer = try ConnectionAcceptor(.ipv4()) { socket, number in
            try? Self.serve(socket, number, script, seen)
        }
        defer { peer.stop() }
        let session = makeSession { $0.assumesCleartextHTTP2 = true }
        defer { session.invalidateAndCancel() }
        let base = "http://127.0.0.1:\(peer.address.port ?? 0)"
        try await withTimeout("\(script) \(method)") {
            let outcomes = Recorder<String>()
            for number in 1...count {
                var request = URLRequest(url: try #require(URL(string: "\(base)/\(number)")))
                request.httpMethod = method
                if method == "POST" { request.httpBody = Data("body".utf8) }
                session.dataTask(with: request) { data, _, error in
                    let text = data.map { String(decoding: $0, as: UTF8.self) }
                    outcomes.append("\(number) \(text ?? "\((error as? URLError)?.code.rawValue ?? 0)")")
                }.resume()
            }
            let all = await outcomes.count(reaches: count).sorted()
            let last = script.processed
            // One that may have been processed is sent again where that does no harm, and no answer has begun; but not the
            // first, where the server has answered nothing at all.
            let isRepeated = !script.isComplete && last > 1 && script.point == .beforeHeaders && method == "GET"
            let isLost = !script.isComplete && last > 0 && !isRepeated
            let expected = (1...count).map { $0 == last && isLost ? "\($0) -1005" : "\($0) /\($0)" }
            #expect(all == expected, "\(script) \(method)")
            let again = seen.snapshot.filter { !$0.hasPrefix("0 ") }.map { $0.split(separator: " ").last ?? "" }
            let unprocessed = (1...count).filter { $0 > last }.map { "/\($0)" }
            #expect(again.filter { $0 != "/\(last)" }.map(String.init) == unprocessed, "\(script) \(method)")
            #expect(again.count { $0 == "/\(last)" } == (isRepeated ? 1 : 0), "\(script) \(method)")
            #expect(seen.snapshot.filter { $0.hasPrefix("0 ") } == (1...count).map { "0 /\($0)" })
        }
    }
}
