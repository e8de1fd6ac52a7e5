import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// A reverse proxy inside a server: bodies pass in both directions at the pace of the slower side.
///
///     swift run InAServerExample http://127.0.0.1:8080   # prints its own URL, and ends with its input
///     swift run InAServerExample --demo                  # with a server behind it, and clients
@main
enum InAServer {
    static func main() async {
        let argument = CommandLine.arguments.dropFirst().first ?? ""
        do {
            if argument == "--demo" { return try await Demo().run() }
            guard let upstream = URL(string: argument), upstream.host() != nil else {
                print("usage: InAServerExample URL|--demo")
                exit(2)
            }
            let proxy = try ReverseProxy(upstream)
            print("at \(proxy.url("/"))")
            while readLine() != nil {}
            await proxy.stop()
            print("stopped")
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }
}

/// Forwards a server's requests to another one. The server is LoadingKit's loopback server, whose threads block. One
/// with asynchronous handlers gives a request's body to `URLRequest.bodyStream(of:)`, and iterates over `bytes(for:)`.
final class ReverseProxy: Sendable {
    private let server: LoopbackServer
    private let session: URLSession
    private let exchanges: Exchanges
    private let watch: Task<Void, Never>

    init(_ upstream: URL) throws {
        let configuration = URLSessionConfiguration.ephemeral
        // The clients are different users: nothing of one may be kept for another.
        (configuration.urlCache, configuration.httpCookieStorage, configuration.urlCredentialStorage) = (nil, nil, nil)
        configuration.keepsContentCodings = true
        let session = URLSession(configuration: configuration)
        let exchanges = Exchanges()
        var options = LoopbackServer.Options()
        options.recordsRequests = false
        options.beforeBody = { exchanges.begin($0, upstream, session) }
        options.receiveBody = { exchanges.receive($1, of: $0) }
        let server = try LoopbackServer(options) { exchanges.answer($0) }
        watch = Task { await exchanges.drop(connectionsOf: server) }
        (self.session, self.exchanges, self.server) = (session, exchanges, server)
    }

    func url(_ path: String) -> URL { URL(string: server.url(path)) ?? URL(fileURLWithPath: path) }

    /// Answers new requests with 503, finishes those under way, and ends the server. Requests that take longer than
    /// `patience` are cancelled: one may have no end, and its client may read nothing.
    func stop(patience: Duration = .seconds(20)) async {
        let deadline = Task { [session, server] in
            try await Task.sleep(for: patience)
            session.invalidateAndCancel()
            Thread.detachNewThread { server.stop() }  // waits for the connections' threads
        }
        await session.finishTasks()
        await exchanges.finish()
        deadline.cancel()
        server.stop()
        watch.cancel()
    }
}
