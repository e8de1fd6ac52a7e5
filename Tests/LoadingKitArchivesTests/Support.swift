import Foundation
import LoadingKit
import LoadingKitArchives
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A server of one archive that answers ranges, or does not, and that counts.
final class RangeServer: Sendable {
    struct State: Sendable {
        var bytes: [UInt8]
        var entityTag: String? = "\"one\""
        var lastModified: String?
        var answersRanges = true
        var answersUnknownLength = false
        /// Called before each answer, with the number of requests before.
        var willAnswer: (@Sendable (inout State, Int, ServerRequest) -> ServerResponse?)?
        /// The number of bytes of a response after which the connection ends.
        var breaksAfter: Int?
    }

    let server: LoopbackServer
    let state: Box<State>
    /// Bytes of bodies that were written.
    let sent = Box(0)

    init(_ bytes: [UInt8], _ change: (inout State) -> Void = { _ in }) throws {
        var initial = State(bytes: bytes)
        change(&initial)
        let (state, sent, count) = (Box(initial), self.sent, Box(0))
        self.state = state
        server = try LoopbackServer { request in
            let number = count.update { number in
                defer { number += 1 }
                return number
            }
            var current = state.value
            if let answer = current.willAnswer?(&current, number, request) { return answer }
            state.value = current
            return Self.answer(request, current, sent)
        }
    }

    deinit { server.stop() }

    var requests: [ServerRequest] { server.requests.snapshot }
    var ranges: [String?] { requests.map { $0.fields[.range] } }

    private static func answer(_ request: ServerRequest, _ state: State, _ sent: Box<Int>) -> ServerResponse {
        let isCurrent = request.fields[name: "If-Range"].map { $0 == state.entityTag } ?? true
        var range = 0..<state.bytes.count
        var status = 200
        if let field = request.fields[.range], state.answersRanges, isCurrent {
            let ends = field.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
            let first = Int(ends[0]) ?? max(0, state.bytes.count - (Int(ends[1]) ?? 0))
            let last = ends[0].isEmpty ? state.bytes.count - 1 : min(Int(ends[1]) ?? .max, state.bytes.count - 1)
            guard first <= last else { return ServerResponse(416) }
            range = first..<last + 1
            status = 206
        }
        let body = Array(state.bytes[range])
        var response = ServerResponse.stream(
            state.answersUnknownLength ? .chunked : .length(UInt64(body.count)), type: "application/zip"
        ) { writer in
            for start in stride(from: 0, to: body.count, by: 16_384) {
                let piece = Array(body[start..<min(start + 16_384, body.count)])
                if let limit = state.breaksAfter, start >= limit { throw CancellationError() }
                try writer.write(piece)
                sent.update { $0 += piece.count }
            }
        }
        response.status = status
        if status == 206 {
            response = response.adding(
                "Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(state.bytes.count)")
        }
        if let tag = state.entityTag { response = response.adding("ETag", tag) }
        if let date = state.lastModified { response = response.adding("Last-Modified", date) }
        return response
    }

    func url(_ member: String = "", path: String = "/archive.zip") throws -> URL {
        let archive = try #require(URL(string: server.url(path)))
        return try #require(ArchiveURL(archive: archive, member: member).url)
    }
}

func makeSession(_ limits: ArchiveLimits = ArchiveLimits(), delegate: (any URLSessionDelegate)? = nil) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    ArchiveLoader(limits: limits).install(in: configuration)
    return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
}

extension URLSession {
    func load(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (data, response) = try await data(for: request)
        return (data, try #require(response as? HTTPURLResponse))
    }

    func load(
        _ url: URL, method: String = "GET", fields: [String: String] = [:]
    ) async throws -> (Data, HTTPURLResponse) {
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return try await load(request)
    }

    func archiveError(_ url: URL, method: String = "GET", fields: [String: String] = [:]) async -> ArchiveError? {
        do {
            _ = try await load(url, method: method, fields: fields)
        } catch {
            return error as? ArchiveError
        }
        return nil
    }
}

extension HTTPURLResponse {
    func field(_ name: String) -> String? { value(forHTTPHeaderField: name) }
}

/// Runs a program in a folder.
func run(_ program: String, _ arguments: [String], in folder: String) async throws {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let found = path.split(separator: ":").map { "\($0)/\(program)" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let found else { throw MissingProgram(program: program, aptPackage: program) }
    let process = try ChildProcess(found, arguments, folder: folder, environment: ["LC_ALL": "C.UTF-8"])
    let status = try await onThread { process.waitForExit() }
    try #require(status == 0, "\(program) ended with \(status)")
}
