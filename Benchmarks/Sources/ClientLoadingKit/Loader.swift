import ClientSupport
import Foundation
import LoadingKit

/// Loads with LoadingKit, as its documentation shows.
struct Loader: Sendable {
    private let session: URLSession
    private let url: URL
    private let sink = BodySink()
    private var webSocket: URLSessionWebSocketTask?

    init() {
        guard let url = URL(string: Arguments.process.url) else { fail("no URL") }
        self.url = url
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = Arguments.process.atATime
        configuration.protocolClasses = [KilobyteHandler.self]
        // The peers have none, and each load is to go to the server, directly.
        configuration.urlCache = Self.cache
        configuration.connectionProxyDictionary = [:]
        if let certificate = Arguments.process.certificate { configuration.tlsTrustRoots = .file(path: certificate) }
        let isTold = Arguments.process.mode == "delegate"
        session = URLSession(configuration: configuration, delegate: isTold ? sink : nil, delegateQueue: nil)
        if Arguments.process.mode == "echo" {
            webSocket = session.webSocketTask(with: url)
            webSocket?.resume()
        }
    }

    /// Where responses are stored, which only the loads that are to come from there need.
    private static var cache: URLCache? {
        let capacity = 16 << 20
        return switch Arguments.process.mode {
        case "memoryCache": URLCache(memoryCapacity: capacity, diskCapacity: 0)
        case "diskCache":
            URLCache(
                memoryCapacity: 0, diskCapacity: capacity, directory: URL(fileURLWithPath: Arguments.process.file))
        default: nil
        }
    }

    /// Where the loads are asked for.
    var executor: (any TaskExecutor)? { Arguments.process.mode == "executor" ? session.executor : nil }

    var load: @Sendable () async throws -> Int {
        switch Arguments.process.mode {
        case "memory", "executor", "memoryCache", "diskCache": loadToMemory
        case "delegate": tellDelegate
        case "file": loadToFile
        case "upload": upload
        case "echo": echo
        case "task": runTask
        default: fail("no such mode")
        }
    }

    @Sendable private func loadToMemory() async throws -> Int {
        let (data, response) = try await session.data(from: url)
        if let response = response as? HTTPURLResponse, response.statusCode != 200 { fail("another status than 200") }
        return data.count
    }

    @Sendable private func tellDelegate() async throws -> Int {
        try await sink.load(session.dataTask(with: url))
    }

    @Sendable private func loadToFile() async throws -> Int {
        let (location, _) = try await session.download(from: url)
        let size = try FileManager.default.attributesOfItem(atPath: location.path)[.size] as? Int
        try FileManager.default.removeItem(at: location)
        return size ?? 0
    }

    /// Sends as many bytes as the response is expected to have.
    @Sendable private func upload() async throws -> Int {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let (data, _) = try await session.upload(for: request, from: Self.bytes)
        return data.count
    }

    /// Sends a message, and awaits it. One load at a time.
    @Sendable private func echo() async throws -> Int {
        try await webSocket?.send(.data(Self.bytes))
        guard case .data(let data)? = try await webSocket?.receive() else { return 0 }
        return data.count
    }

    private static let bytes = Data(repeating: 0x61, count: Arguments.process.length)

    /// What a handler of a scheme's own is measured against: the same `Data`, from a task alone.
    @Sendable private func runTask() async throws -> Int {
        await Task { KilobyteHandler.body }.value.count
    }
}
