import Foundation
import LoadingKit

/// Looks at each request on its way to the network: adds a field to it, and reports its response.
///
///     swift run InterceptorExample https://swift.org/ https://example.org/
@main
enum Interceptor {
    static func main() async {
        let configuration = URLSessionConfiguration.ephemeral
        // These classes are asked before the built-in ones, in this order.
        configuration.protocolClasses = [RequestReporter.self]
        let session = URLSession(configuration: configuration)
        for url in CommandLine.arguments.dropFirst().compactMap({ URL(string: $0) }) {
            do {
                let (data, _) = try await session.data(from: url)
                print("\(data.count) bytes")
            } catch {
                print("failed: \(error.localizedDescription)")
            }
        }
    }
}

/// Stateless. `load.next` stands for the handlers behind this one: no second session is needed, and no mark in the request.
final class RequestReporter: URLProtocolHandler, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool {
        request.url?.scheme == "https" || request.url?.scheme == "http"
    }

    override func load(_ load: LoadContext) async throws {
        var request = load.request
        let identifier = UUID().uuidString
        request.setValue(identifier, forHTTPHeaderField: "X-Request-ID")
        let loaded = try await load.next.load(request)
        let status = (loaded.response as? HTTPURLResponse)?.statusCode ?? 0
        print("\(request.httpMethod ?? "GET") \(load.url.path) \(identifier): \(status)")
        try await load.receive(loaded.response)
        // The body is passed on as it is received. It could be changed here.
        for try await piece in loaded.body { try await load.receive(piece) }
    }
}
