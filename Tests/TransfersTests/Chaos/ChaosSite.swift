import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport

/// A server that resets, stalls, closes and redirects, and gives the right bytes otherwise: `/get/NAME/SIZE`, and `/put/NAME`.
final class ChaosSite: Sendable {
    private struct State {
        var generator: SeededGenerator
        var bytesSent: Int64 = 0
        var uploads: [String: Int] = [:]
        /// How often each thing was asked for.
        var requests: [String: Int] = [:]
    }

    /// What goes wrong with a request.
    private enum Fault {
        case nothing
        case redirect
        case reset
        /// After so many bytes.
        case truncated(Int)
        case stalled(Int)
    }

    private let state: Guarded<State>
    private let running = Guarded<LoopbackServer?>(nil)
    /// What all files are cut out of; its size is a prime number, so that no part of it fits another's place.
    private static let block: [UInt8] = {
        var generator = SeededGenerator(seed: 4)
        return (0..<1_048_573).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }()

    init(seed: UInt64) throws {
        state = Guarded(State(generator: SeededGenerator(seed: seed)))
        var options = LoopbackServer.Options()
        options.recordsRequests = false
        let server = try LoopbackServer(options) { [weak self] request in
            self.map { $0.answer(request) } ?? ServerResponse(503)
        }
        running.withLock { $0 = server }
    }

    deinit { running.withLock { $0 }?.stop() }

    func url(_ path: String) -> String { running.withLock { $0 }?.url(path) ?? "" }

    var bytesSent: Int64 { state.withLock { $0.bytesSent } }
    var requestCount: Int { state.withLock { $0.requests.values.reduce(0, +) } }

    /// How often an upload came whole.
    func uploads(of name: String) -> Int { state.withLock { $0.uploads[name] ?? 0 } }

    static func content(_ name: String, _ range: Range<Int>) -> ArraySlice<UInt8> {
        let start = (range.lowerBound + name.utf8.reduce(0) { $0 &* 31 &+ Int($1) } % block.count) % block.count
        let end = start + range.count
        return end <= block.count ? block[start..<end] : (block[start...] + block[..<(end - block.count)])[...]
    }

    /// Whether a file is what a name and size say.
    static func isRight(_ file: URL, _ name: String, size: Int) -> Bool {
        guard let data = try? Data(contentsOf: file), data.count == size else { return false }
        return stride(from: 0, to: size, by: 65_536).allSatisfy { start in
            let range = start..<min(start + 65_536, size)
            return data[range].elementsEqual(content(name, range))
        }
    }

    // MARK: Answers

    private func answer(_ request: ServerRequest) -> ServerResponse {
        let parts = request.path.split(separator: "/").map(String.init)
        guard parts.count >= 2 else { return ServerResponse(404) }
        if parts[0] == "put" { return takeUpload(parts[1], request) }
        guard parts.count == 3, let size = Int(parts[2]) else { return ServerResponse(404) }
        return download(parts[1], size, request, mayRedirect: parts[0] == "get")
    }

    private func takeUpload(_ name: String, _ request: ServerRequest) -> ServerResponse {
        if case .reset = fault(name, size: 1, mayRedirect: false) { return Self.cut(request) }
        let expected = Self.content(name, 0..<request.body.count)
        guard expected.elementsEqual(request.body) else { return ServerResponse(422) }
        state.withLock { $0.uploads[name, default: 0] += 1 }
        return .text("thanks for \(name)")
    }

    private func download(
        _ name: String, _ size: Int, _ request: ServerRequest, mayRedirect: Bool
    ) -> ServerResponse {
        let tag = "\"\(name)-\(size)\""
        let start = request.fields[name: "If-Range"] == tag ? Self.rangeStart(request.fields[name: "Range"]) : 0
        let fault = fault(name, size: size - start, mayRedirect: mayRedirect)
        if case .redirect = fault { return .redirect(to: "/moved/\(name)/\(size)") }
        if case .reset = fault { return Self.cut(request) }
        var response = ServerResponse.stream(.length(UInt64(max(size - start, 0)))) { [self] writer in
            try send(name, start..<size, fault, writer, request.exchange)
        }
        response = response.adding("ETag", tag)
        guard start > 0 else { return response }
        response.status = 206
        return response.adding("Content-Range", "bytes \(start)-\(size - 1)/\(size)")
    }

    private static func rangeStart(_ range: String?) -> Int {
        range.flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) } ?? 0
    }

    private func send(
        _ name: String, _ range: Range<Int>, _ fault: Fault, _ writer: ResponseBodyWriter, _ exchange: ServerExchange
    ) throws {
        var end = range.upperBound
        switch fault {
        case .truncated(let count), .stalled(let count): end = min(end, range.lowerBound + count)
        case .nothing, .redirect, .reset: break
        }
        var position = range.lowerBound
        while position < end {
            let piece = position..<min(position + 65_536, end)
            try writer.write(Array(Self.content(name, piece)))
            state.withLock { $0.bytesSent += Int64(piece.count) }
            position = piece.upperBound
        }
        switch fault {
        case .truncated: try exchange.closeAbruptly()
        case .stalled: try exchange.waitUntilClientCloses()
        case .nothing, .redirect, .reset: break
        }
    }

    /// Each thing goes wrong four times at most.
    private func fault(_ name: String, size: Int, mayRedirect: Bool) -> Fault {
        state.withLock { state in
            let count = state.requests[name, default: 0]
            state.requests[name] = count + 1
            guard count < 5 else { return .nothing }
            let part = Int.random(in: 0...max(size, 1), using: &state.generator)
            switch Int.random(in: 0..<20, using: &state.generator) {
            case 0..<2 where mayRedirect: return .redirect
            case 2..<4: return .reset
            case 4..<8: return .truncated(part)
            case 8: return .stalled(part)
            case _: return .nothing
            }
        }
    }

    private static func cut(_ request: ServerRequest) -> ServerResponse {
        .stream(.length(1)) { _ in try request.exchange.reset() }
    }
}
