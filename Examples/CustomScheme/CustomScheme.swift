import Foundation
import LoadingKit

/// Adds a URL scheme: `environment:HOME` is the value of an environment variable.
///
///     swift run CustomSchemeExample environment:HOME
@main
enum CustomScheme {
    static func main() async {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [EnvironmentHandler.self]
        let session = URLSession(configuration: configuration)
        for url in CommandLine.arguments.dropFirst().compactMap({ URL(string: $0) }) {
            do {
                let (data, response) = try await session.data(from: url)
                print("\(url): \(String(decoding: data, as: UTF8.self)) (\(response.mimeType ?? "unknown type"))")
            } catch {
                print("\(url): failed: \(error.localizedDescription)")
            }
        }
    }
}

/// One instance loads one request. It has no state, so that it needs no protection.
final class EnvironmentHandler: URLProtocolHandler, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "environment" }

    /// The load is complete when the function returns, and fails with the error that it throws. When the task is
    /// cancelled, so is this function's task.
    override func load(_ load: LoadContext) async throws {
        let name = String(load.url.absoluteString.dropFirst("environment:".count))
        guard let value = ProcessInfo.processInfo.environment[name] else { throw URLError(.resourceUnavailable) }
        let data = Data(value.utf8)
        try await load.receive(
            URLResponse(
                url: load.url, mimeType: "text/plain", expectedContentLength: data.count, textEncodingName: "utf-8"))
        // A long body is delivered in pieces. The call waits while the receiver is behind.
        try await load.receive(data)
    }
}
