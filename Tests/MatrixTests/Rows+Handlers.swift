import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import Logging
import MatrixPaths
import Testing

/// What code of the program's sees and does.
extension Row {
    private static let whyNotInBackground = "It is code of the program's, which transfers go on without."
    private static let noHandlers = "A stream task has no request that a handler could load."
    private static let own: [MatrixPath] = MatrixPath.all(but: [.stream] + MatrixPath.background)

    static let handlers: [Row] = [
        .setting("interceptors")
            .on(own.filter { $0 != .ftp }) { path in
                let seen = try await path.run { $0.configure = { $0.interceptors.append(Adding()) } }
                #expect(seen.outcome?.isLoaded == true)
                #expect(!seen.requests.isEmpty && seen.values("X-Adapted").allSatisfy { $0 == "yes" })
            }
            .on([.ftp]) { path in
                let seen = try await path.run { $0.configure = { $0.interceptors.append(Adding()) } }
                // The server that they make of it is one with TLS, which this one is not.
                #expect(seen.commands.contains { $0.hasPrefix("AUTH") })
            }
            .not([.stream], noHandlers)
            .not(MatrixPath.background, whyNotInBackground),
        .setting("recorders", "recordHAR(to:) and LOADKIT_HAR")
            .on(own + MatrixPath.background) { path in
                let recorder = NotingRecorder()
                let seen = try await path.run { $0.configure = { $0.settings.recorders = [recorder] } }
                #expect(seen.outcome?.isLoaded == true)
                #expect(!recorder.urls.snapshot.isEmpty)
            }
            .not([.stream], noHandlers),
        .setting("protocolClasses")
            .on(own.filter { $0 != .webSocket }) { path in
                let seen = try await path.run { $0.configure = { $0.protocolClasses = [Answering.self] } }
                #expect(seen.outcome?.text == "handled" && seen.requests.isEmpty && seen.commands.isEmpty)
            }
            .not([.webSocket], "A handler's response is no connection that messages could go over.")
            .not([.stream], noHandlers)
            .not(MatrixPath.background, whyNotInBackground),
        .setting("factories", "register(scheme:_:)")
            .on(own.filter { $0 != .webSocket }) { path in
                let scheme = path == .ftp ? "ftp" : path == .http2 ? "https" : "http"
                let seen = try await path.run {
                    $0.configure = {
                        $0.register(scheme: scheme) { Answering(request: $0, cachedResponse: nil, client: nil) }
                    }
                }
                #expect(seen.outcome?.text == "handled" && seen.requests.isEmpty && seen.commands.isEmpty)
            }
            .not([.webSocket], "A handler's response is no connection that messages could go over.")
            .not([.stream], noHandlers)
            .not(MatrixPath.background, whyNotInBackground),
        .setting("builtInHandlers", "the built-in schemes")
            .on(own) { path in
                let seen = try await path.run { $0.configure = { $0.settings.builtInHandlers = [] } }
                #expect(seen.outcome?.code == .unsupportedURL && seen.requests.isEmpty && seen.commands.isEmpty)
            }
            .on([.stream]) { path in
                let proxy = try ProxyPeer()
                defer { proxy.stop() }
                let seen = try await path.run {
                    $0.configure = { configuration in
                        configuration.connectionProxyDictionary = proxy.dictionary
                        configuration.settings.builtInHandlers = []
                    }
                }
                // The module with the handlers of http has the proxies of stream tasks.
                #expect(seen.outcome?.text == "hello" && seen.connections == 1 && proxy.connections == 0)
            }
            .not(MatrixPath.background, "Transfers are of the built-in schemes."),
        .setting("recordsEvents")
            .elsewhere { path in
                for isOn in [true, false] {
                    let seen = try await path.run {
                        $0.isSecure = true
                        $0.configure = { configuration in
                            configuration.tlsTrustRoots = .system
                            configuration.recordsEvents = isOn
                        }
                    }
                    let error = try #require(seen.outcome?.error)
                    #expect((error.loadRecord?.contains("failed while TLS was negotiated") ?? false) == isOn)
                }
            },
        .setting("ownLogger", "logger")
            .on([.http2, .interceptor, .forwarded]) { path in
                let lines = Recorder<String>()
                _ = try await path.run {
                    $0.configure = { configuration in
                        var logger = Logger(label: "matrix") { _ in Lines(lines: lines) }
                        logger.logLevel = .trace
                        configuration.logger = logger
                        configuration.interceptors.append(Telling())
                    }
                }
                #expect(lines.snapshot.contains { path == .http2 ? $0.contains("HEADERS") : $0 == "told" })
            }
            .on(MatrixPath.all(but: [.http2, .interceptor, .forwarded] + MatrixPath.background)) { path in
                let lines = Recorder<String>()
                _ = try await path.run { trial in
                    trial.configure = { $0.logger = Logger(label: "matrix") { _ in Lines(lines: lines) } }
                }
                #expect(lines.snapshot.contains("the task begins"))
            }
            .not(
                MatrixPath.background,
                "The daemon has a log of its own; what a transfer ends with is told to the delegate."
            ),
        .property("properties", "URLProtocol.property(forKey:in:)")
            .on(own.filter { $0 != .resumedDownload && $0 != .resumedUpload }) { path in
                let mark = UUID().uuidString
                _ = try await path.run {
                    $0.configure = { $0.protocolClasses = [Looking.self] }
                    $0.change = { request in
                        guard let copy = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return }
                        URLProtocol.setProperty(mark, forKey: "matrix", in: copy)
                        request = copy as URLRequest
                    }
                }
                #expect(Looking.seen.snapshot.contains(mark))
            }
            .not([.resumedDownload, .resumedUpload], "They may be of any class, and resume data is a file's content.")
            .not([.stream], noHandlers)
            .not(MatrixPath.background, "No handler of the program's sees a transfer's request."),
    ]
}

private struct Adding: LoadAdapter {
    func adapt(_ request: URLRequest) throws -> URLRequest {
        var request = request
        request.setValue("yes", forHTTPHeaderField: "X-Adapted")
        if request.url?.scheme == "ftp" { request.setValue("required", forHTTPHeaderField: "FTP-TLS") }
        return request
    }
}

/// Writes to the log of the session.
private struct Telling: LoadInterceptor {
    func load(_ load: LoadContext) async throws {
        load.logger.info("told")
        try await load.receive(load.next.load(load.request))
    }
}

private struct Lines: LogHandler {
    let lines: Recorder<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(lines: Recorder<String>) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.append("\(event.message)") }
}

/// Answers for the resource in place of its server.
private final class Answering: URLProtocolHandler, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.lastPathComponent != "start" }

    override func load(_ load: LoadContext) async throws {
        try await load.receive(
            URLResponse(url: load.url, mimeType: "text/plain", expectedContentLength: 7, textEncodingName: "utf-8"))
        try await load.receive(Data("handled".utf8))
    }
}

/// Looks at requests, and loads none.
private final class Looking: URLProtocolHandler, @unchecked Sendable {
    static let seen = Recorder<String>()

    override class func canInit(with request: URLRequest) -> Bool {
        if let mark = property(forKey: "matrix", in: request) as? String { seen.append(mark) }
        return false
    }
}

/// Notes the URLs of the loads.
private final class NotingRecorder: LoadRecorder {
    let urls = Recorder<URL?>()

    func load(
        _ request: URLRequest, _ resources: LoadResources, by make: @escaping (URLRequest) throws -> any LoopHandler
    ) throws -> any LoopHandler {
        urls.append(request.url)
        return try make(request)
    }

    func record(
        _ metrics: URLSessionTaskMetrics, _ error: (any Error)?, ofTask task: Int, from firstURL: URL?,
        in session: SessionIdentity
    ) {
        urls.append(metrics.transactionMetrics.last?.request.url)
    }

    func flush(_ done: @escaping @Sendable () -> Void) { done() }
}
