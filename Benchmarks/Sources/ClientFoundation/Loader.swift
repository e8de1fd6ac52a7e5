import ClientSupport
import Foundation
import FoundationNetworking

/// Loads with FoundationNetworking, as its documentation shows. Not over TLS: it cannot be told what to trust.
struct Loader: Sendable {
    private let session: URLSession
    private let url: URL
    private let sink = BodySink()

    init() {
        guard let url = URL(string: Arguments.process.url), Arguments.process.certificate == nil else { fail("no URL") }
        self.url = url
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = Arguments.process.atATime
        let isTold = Arguments.process.mode == "delegate"
        session = URLSession(configuration: configuration, delegate: isTold ? sink : nil, delegateQueue: nil)
    }

    var load: @Sendable () async throws -> Int {
        switch Arguments.process.mode {
        case "memory": loadToMemory
        case "delegate": tellDelegate
        case "file": loadToFile
        default: fail("no such mode")
        }
    }

    @Sendable private func loadToMemory() async throws -> Int {
        let (data, response) = try await session.data(from: url)
        if let response = response as? HTTPURLResponse, response.statusCode != 200 { fail("another status than 200") }
        return data.count
    }

    @Sendable private func tellDelegate() async throws -> Int { try await sink.load(session.dataTask(with: url)) }

    @Sendable private func loadToFile() async throws -> Int {
        let (file, _) = try await session.download(from: url)
        defer { try? FileManager.default.removeItem(at: file) }
        return try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
    }
}
