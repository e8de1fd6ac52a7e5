import Foundation
import LoadingKit

/// Looks at each request on its way to the network: adds a field to it, and reports its response.
///
///     swift run InterceptorExample https://swift.org/ https://example.org/
@main
enum Interceptor {
    static func main() async {
        let configuration = URLSessionConfiguration.ephemeral
        // The first is the outermost. They stand before all handlers.
        configuration.interceptors = [RequestReporter()]
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

/// `load.next` represents the handlers after the interceptor: no second session is needed, and no mark in the request.
struct RequestReporter: LoadInterceptor {
    // The interceptor only prints, and waits only for the load: it may run on the session's thread.
    var runsOnSessionExecutor: Bool { true }

    func canIntercept(_ request: URLRequest) -> Bool { ["http", "https"].contains(request.url?.scheme) }

    func load(_ load: LoadContext) async throws {
        var request = load.request
        let identifier = UUID().uuidString
        request.setValue(identifier, forHTTPHeaderField: "X-Request-ID")
        let loaded = try await load.next.load(request)
        let status = (loaded.response as? HTTPURLResponse)?.statusCode ?? 0
        print("\(request.httpMethod ?? "GET") \(load.url.path) \(identifier): \(status)")
        // The session receives the body as it comes. To change it: read `loaded.body`, and give the pieces to `load`.
        try await load.receive(loaded)
    }
}
