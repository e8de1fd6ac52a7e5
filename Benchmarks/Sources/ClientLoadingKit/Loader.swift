import ClientSupport
import Foundation
import LoadingKit
import Synchronization

/// Loads with LoadingKit, as its documentation shows.
struct Loader: Sendable {
    private let session: URLSession
    /// Another session, on another event loop.
    private let other: URLSession
    private let url: URL
    private let sink = BodySink()
    private var webSocket: URLSessionWebSocketTask?

    init() {
        guard let url = URL(string: Arguments.process.url) else { fail("no URL") }
        self.url = url
        let mode = Arguments.process.mode
        let configuration = mode == "background" ? Self.backgroundConfiguration : URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = mode == "queued" ? 64 : Arguments.process.atATime
        // In a session with classes of the program, tasks begin in the loop's own thread, which costs a switch of threads.
        if url.scheme == "kilobyte" { configuration.protocolClasses = [KilobyteHandler.self] }
        // The peers have none, and each load is to go to the server, directly.
        configuration.urlCache = Self.cache
        configuration.connectionProxyDictionary = [:]
        if let certificate = Arguments.process.certificate { configuration.tlsTrustRoots = .file(path: certificate) }
        let isTold = mode == "delegate" || mode == "background"
        session = URLSession(configuration: configuration, delegate: isTold ? sink : nil, delegateQueue: nil)
        configuration.urlCache = Self.cache
        other = mode == "loops" ? URLSession(configuration: configuration) : session
        if mode == "echo" {
            webSocket = session.webSocketTask(with: url)
            webSocket?.resume()
        }
        if mode == "cookies" { Self.fill(configuration.httpCookieStorage) }
    }

    /// The program performs the transfers itself, so that its figures are those of the transfers.
    private static var backgroundConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.background(withIdentifier: "benchmark-\(getpid())")
        configuration.runsInProcess = true
        return configuration
    }

    /// Ten cookies for each of a thousand sites, and ten that the loads send.
    private static func fill(_ storage: HTTPCookieStorage?) {
        let hosts = (1...1_000).map { "site\($0).example" } + [URL(string: Arguments.process.url)?.host ?? ""]
        for host in hosts {
            for number in 1...10 {
                let properties: [HTTPCookiePropertyKey: Any] = [
                    .domain: host, .path: "/", .name: "name\(number)", .value: "value",
                ]
                if let cookie = HTTPCookie(properties: properties) { storage?.setCookie(cookie) }
            }
        }
    }

    /// Where responses are stored, which only the loads that are to come from there need.
    private static var cache: URLCache? {
        let capacity = 16 << 20
        return switch Arguments.process.mode {
        case "memoryCache", "loop", "loops": URLCache(memoryCapacity: capacity, diskCapacity: 0)
        case "diskCache":
            URLCache(
                memoryCapacity: 0, diskCapacity: capacity, directory: URL(fileURLWithPath: Arguments.process.file))
        default: nil
        }
    }

    /// The ways in which loads are made, of which each of the tasks that make them has one.
    var lanes: [LoadLane] {
        switch Arguments.process.mode {
        case "executor", "loop": [LoadLane(load: load, executor: session.executor)]
        case "loops": [session, other].map { LoadLane(load: loadToMemory(in: $0), executor: $0.executor) }
        default: [LoadLane(load: load)]
        }
    }

    private var load: @Sendable () async throws -> Int {
        switch Arguments.process.mode {
        case "memory", "executor", "loop", "memoryCache", "diskCache", "cookies", "queued": loadToMemory(in: session)
        case "origins": loadFromOrigins
        case "delegate": tellDelegate
        case "background": loadInBackground
        case "file": loadToFile
        case "upload": upload
        case "uploadData", "uploadFile", "uploadStream": uploadAll
        case "echo": echo
        case "task": runTask
        default: fail("no such mode")
        }
    }

    private func loadToMemory(in session: URLSession) -> @Sendable () async throws -> Int {
        { [url] in
            let (data, response) = try await session.data(from: url)
            if let response = response as? HTTPURLResponse, response.statusCode != 200 {
                fail("another status than 200")
            }
            return data.count
        }
    }

    private static let origins = Atomic<Int>(0)

    /// Loads from another address of this machine than before.
    @Sendable private func loadFromOrigins() async throws -> Int {
        let number = Self.origins.wrappingAdd(1, ordering: .relaxed).newValue
        let host = "127.1.\(number / 250).\(number % 250 + 1)"
        let text = url.absoluteString.replacingOccurrences(of: "127.0.0.1", with: host)
        guard let url = URL(string: text) else { return 0 }
        return try await session.data(from: url).0.count
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

    @Sendable private func loadInBackground() async throws -> Int {
        try await sink.load(session.downloadTask(with: url))
    }

    /// Sends a body, and returns its length.
    @Sendable private func uploadAll() async throws -> Int {
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let file = URL(fileURLWithPath: Arguments.process.file)
        let response: URLResponse
        switch Arguments.process.mode {
        case "uploadData": (_, response) = try await session.upload(for: request, from: Self.bytes)
        case "uploadFile": (_, response) = try await session.upload(for: request, fromFile: file)
        default:
            request.httpBodyStream = InputStream(url: file)
            request.setValue("\(Arguments.process.length)", forHTTPHeaderField: "Content-Length")
            (_, response) = try await session.data(for: request)
        }
        guard let status = (response as? HTTPURLResponse)?.statusCode, 200..<300 ~= status else { return 0 }
        return Arguments.process.length
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
