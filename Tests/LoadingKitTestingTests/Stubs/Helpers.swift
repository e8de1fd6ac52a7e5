import Foundation
import LoadingKit
import LoadingKitTesting
import Synchronization

/// Texts that closures of a test got.
final class Texts: Sendable {
    private let list = Mutex<[String]>([])
    var all: [String] { list.withLock { $0 } }
    func append(_ text: String) { list.withLock { $0.append(text) } }
}

extension StubSet {
    /// A session of its own that these stubs answer.
    func session(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        change(configuration)
        install(in: configuration)
        return URLSession(configuration: configuration)
    }
}

func url(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: "/not-a-url") }

func request(
    _ text: String, method: String = "GET", fields: [String: String] = [:], body: String? = nil
) -> URLRequest {
    var request = URLRequest(url: url(text))
    request.httpMethod = method
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    request.httpBody = body.map { Data($0.utf8) }
    return request
}

func received(
    _ text: String, method: String = "GET", fields: [String: String] = [:], body: String? = nil
) -> ReceivedRequest {
    ReceivedRequest(request(text, method: method, fields: fields, body: body))
}

/// The error that something throws; nil when it does not.
func failure(_ body: () async throws -> Void) async -> (any Error)? {
    do {
        try await body()
        return nil
    } catch {
        return error
    }
}

/// A folder that is removed with the test.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("stubs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
