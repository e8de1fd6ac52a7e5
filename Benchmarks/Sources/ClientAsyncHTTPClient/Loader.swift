import AsyncHTTPClient
import ClientSupport
import Glibc
import NIOCore
import NIOHTTP1

/// Loads with async-http-client, as its documentation shows.
struct Loader: Sendable {
    let client: HTTPClient
    private let url = Arguments.process.url
    private let length = Arguments.process.length

    var load: @Sendable () async throws -> Int {
        switch Arguments.process.mode {
        case "memory": loadToMemory
        case "delegate": stream
        case "file": loadToFile
        default: fail("no such mode")
        }
    }

    @Sendable private func loadToMemory() async throws -> Int {
        try await execute().body.collect(upTo: length).readableBytes
    }

    @Sendable private func stream() async throws -> Int {
        var length = 0
        for try await piece in try await execute().body { length += piece.readableBytes }
        return length
    }

    @Sendable private func loadToFile() async throws -> Int {
        // It writes over what is there; the others begin with an empty file.
        unlink(Arguments.process.file)
        let download = try FileDownloadDelegate(path: Arguments.process.file)
        let request = try HTTPClient.Request(url: url)
        return try await client.execute(request: request, delegate: download).get().receivedBytes
    }

    private func execute() async throws -> HTTPClientResponse {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .minutes(1))
        guard response.status == .ok else { fail("another status than 200") }
        return response
    }
}
