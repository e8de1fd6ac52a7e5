import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// Loads through the proxy what shows its behaviour.
struct Demo {
    private static let piece = [UInt8](repeating: 7, count: 100_000)
    private let uploads = Recorder<Int>()
    private let clientLeft = Signal()
    private let goesOn = Signal()

    func run() async throws {
        var options = LoopbackServer.Options()
        options.beforeBody = { [uploads] request in
            if request.path == "/half" { uploads.append(request.connection) }
            return nil
        }
        let server = try LoopbackServer(options) { [clientLeft, goesOn] request in
            switch request.path {
            case "/echo": .bytes(request.body)
            case "/dies":
                .stream(.length(200_000)) { body in
                    try body.write(Self.piece)
                    throw CancellationError()
                }
            case "/endless":
                .stream { body in
                    defer { clientLeft.fire() }
                    while true { try body.write(Self.piece) }
                }
            default:
                .stream { body in
                    try body.write(Self.piece)
                    try body.wait(for: goesOn)
                    try body.write(Self.piece)
                }
            }
        }
        guard let upstream = URL(string: server.url("")) else { return }
        let proxy = try ReverseProxy(upstream)
        let session = URLSession(configuration: .ephemeral)

        var post = URLRequest(url: proxy.url("/echo"))
        post.httpMethod = "POST"
        print("echo:", try await session.upload(for: post, from: Data(count: 3_000_000)).0.count, "bytes")
        do { _ = try await session.data(from: proxy.url("/dies")) } catch let error as URLError {
            print("the upstream dies: the client's error is \(error.code.rawValue)")
        }
        for try await _ in try await session.bytes(from: proxy.url("/endless")).0.chunks.prefix(1) {}
        await clientLeft.wait()
        print("a client leaves: the upstream is left, too")

        var half = URLRequest(url: proxy.url("/half"))
        half.httpMethod = "PUT"
        let upload = Task { [half] in
            try await session.upload(for: half, from: AsyncStream<Data> { $0.yield(Data(count: 100_000)) })
        }
        let connection = await uploads.element(at: 0) ?? 0
        upload.cancel()
        _ = await server.failures.contents { $0.contains { $0.hasPrefix("connection \(connection):") } }
        print("a client leaves its upload: the upstream's breaks off")

        let (rest, _) = try await session.bytes(from: proxy.url("/slow"))
        async let stopped: Void = proxy.stop()
        goesOn.fire()
        print("stopping:", try await rest.reduce(0) { count, _ in count + 1 }, "bytes to the end")
        await stopped
        do { _ = try await session.data(from: proxy.url("/echo")) } catch { print("stopped") }

        let impatient = try ReverseProxy(upstream)
        let endless = try await session.bytes(from: impatient.url("/endless")).0
        await impatient.stop(patience: .zero)
        do { for try await _ in endless.chunks {} } catch { print("stopping without patience: the load is cut short") }
        server.stop()
    }
}
