import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import MatrixPaths
import TestSupport
import Testing

/// Which connections there are, and how they are used.
extension Row {
    static let connections: [Row] = [
        .setting("httpMaximumConnectionsPerHost")
            .on(MatrixPath.all(but: [.http2, .webSocket, .stream])) { path in
                let seen = try await path.run {
                    $0.configure = { $0.httpMaximumConnectionsPerHost = 1 }
                    $0.loads = 3
                }
                #expect(seen.outcomes.allSatisfy { $0.isLoaded } && seen.outcomes.count == 3)
                #expect(seen.connections == 1)
                if path != .ftp { try await takesTurns(path) }
            }
            .not([.http2], "One connection carries all requests to a host.")
            .not([.webSocket, .stream], "Each task has a connection of its own for as long as it likes."),

        .setting("httpShouldUsePipelining")
            .on([.http1, .interceptor, .forwarded]) { path in
                let seen = try await path.run {
                    $0.configure = {
                        $0.httpMaximumConnectionsPerHost = 1
                        $0.httpShouldUsePipelining = true
                    }
                    $0.pipelines()
                }
                #expect(seen.outcomes.map(\.text) == ["hello", "hello", "hello", "hello"])
            }
            .not(
                [.redirect, .resumedDownload],
                "Requests are pipelined whatever led to them; that of HTTP/1.1 is tested."
            )
            .not(
                [.http2, .webSocket, .ftp, .stream, .resumedUpload],
                "Pipelined are requests of HTTP/1.1 without a body."
            )
            .not(MatrixPath.background, "Transfers are not pipelined: one that stalls would hold up others."),
        .property("httpShouldUsePipelining")
            .on([.http1, .interceptor, .forwarded]) { path in
                let seen = try await path.run {
                    $0.configure = { $0.httpMaximumConnectionsPerHost = 1 }
                    $0.change = { $0.httpShouldUsePipelining = true }
                    $0.pipelines()
                }
                #expect(seen.outcomes.map(\.text) == ["hello", "hello", "hello", "hello"])
            }
            .not(
                [.redirect, .resumedDownload],
                "Requests are pipelined whatever led to them; that of HTTP/1.1 is tested."
            )
            .not(
                [.http2, .webSocket, .ftp, .stream, .resumedUpload],
                "Pipelined are requests of HTTP/1.1 without a body."
            )
            .not(MatrixPath.background, "Transfers are not pipelined: one that stalls would hold up others."),

        .setting("allowsHTTP2")
            .on(MatrixPath.http) { path in
                for (allows, expected) in [(true, "h2"), (false, "http/1.1")] {
                    let seen = try await path.run {
                        $0.isSecure = true
                        $0.tls = { $0.applicationProtocols = ["h2", "http/1.1"] }
                        $0.configure = { $0.allowsHTTP2 = allows }
                    }
                    #expect(seen.outcome?.isLoaded == true)
                    #expect(seen.handshakes.last?.applicationProtocol == expected)
                }
            }
            .not(
                [.webSocket],
                "A handshake of its own offers HTTP/1.1 alone; over HTTP/2 it joins a connection that is there."
            )
            .not([.ftp, .stream], "No HTTP."),

        .setting("assumesHTTP2", "assumesCleartextHTTP2")
            .on(MatrixPath.all(but: [.ftp, .stream]), speaksHTTP2)
            .not([.ftp, .stream], "No HTTP."),

        .setting("retriesUnansweredRequests")
            .on(MatrixPath.data) { path in
                for retries in [true, false] {
                    let posts = Box(0)
                    let seen = try await path.run {
                        $0.configure = { $0.retriesUnansweredRequests = retries }
                        $0.change = { $0.httpMethod = "POST" }
                        $0.rounds = 2
                        $0.answer = { request in
                            // The second is lost.
                            let count = posts.update { count in
                                count += 1
                                return count
                            }
                            if count == 2 { try request.exchange.closeAbruptly() }
                            return nil
                        }
                    }
                    #expect(seen.outcome?.isLoaded == retries)
                    #expect(posts.value == (retries ? 3 : 2))
                }
            }
            .not([.webSocket, .resumedDownload], "Its request is a GET, which is sent again in any case.")
            .not([.resumedUpload], "The upload asks the server how much it has, and goes on.")
            .not([.ftp, .stream], "No HTTP.")
            .not(MatrixPath.background, "A transfer that breaks is tried again in any case."),

        .setting("unixSocket")
            .on(MatrixPath.data + [.webSocket, .resumedDownload, .resumedUpload]) { path in
                let folder = try TemporaryFolder()
                let socket = folder.path + "/socket"
                let seen = try await path.run {
                    $0.socketPath = socket
                    $0.host = "matrix"
                    $0.appliesToFirstPart = true
                    $0.tls = { options in
                        if let identity = try? MatrixAuthority.authority.get().issue(.names("matrix")) {
                            options.identity = identity
                        }
                    }
                    $0.configure = { $0.unixSocket = { $0 == "matrix" ? UnixSocket(path: socket) : nil } }
                }
                #expect(seen.outcome?.isLoaded == true && !seen.requests.isEmpty)
            }
            .not([.ftp, .stream], "Only hosts of HTTP are at such sockets.")
            .not(MatrixPath.background, "It is code of the program's, which transfers go on without."),

        .setting("connectionProxyDictionary")
            .elsewhere { path in
                try await goesThroughProxy(path) { configuration, proxy in
                    configuration.connectionProxyDictionary = proxy.dictionary
                }
            },
        .setting("proxyResolver")
            .on(MatrixPath.all(but: MatrixPath.background)) { path in
                try await goesThroughProxy(path) { configuration, proxy in
                    configuration.connectionProxyDictionary = nil
                    configuration.proxyResolver = MatrixResolver(port: proxy.port)
                }
            }
            .not(MatrixPath.background, "It is code of the program's, which transfers go on without."),
        .setting("connectSubstitution", "where the tool's connections lead")
            .on(MatrixPath.data + [.webSocket, .resumedDownload, .resumedUpload, .ftp]) { path in
                let seen = try await path.run {
                    $0.configure = { configuration in
                        configuration.settings.connectSubstitution = ConnectSubstitution { _ in
                            .tcp(host: "127.0.0.1", port: 1)
                        }
                    }
                }
                #expect(seen.outcome?.code == .cannotConnectToHost && seen.requests.isEmpty)
            }
            .not([.stream], "The tool has no stream tasks.")
            .not(MatrixPath.background, "The tool loads in its own process."),
        .setting("omittedFields", "fields that the tool's user does not want")
            .on(MatrixPath.data + [.webSocket, .resumedDownload, .resumedUpload]) { path in
                let seen = try await path.run {
                    $0.configure = { $0.settings.omittedFields = ["user-agent"] }
                }
                #expect(!seen.requests.isEmpty && seen.values("User-Agent").allSatisfy { $0 == nil })
            }
            .not([.ftp], Reason.ftpFields)
            .not([.stream], Reason.streamFields)
            .not(MatrixPath.background, "The tool loads in its own process."),
        .setting("sendsHTTP1_0", "requests of HTTP/1.0, for the tool")
            .on([.http1]) { path in
                let seen = try await path.run { $0.configure = { $0.settings.sendsHTTP1_0 = true } }
                #expect(seen.outcome?.isLoaded == true)
                #expect(seen.values("Connection") == [nil])
            }
            .elsewhere("As over HTTP/1.1, or without a meaning: the tool's tests see the request line."),
        .setting("proxyEnvironment", "the environment's proxies")
            .elsewhere { path in
                try await goesThroughProxy(path) { configuration, proxy in
                    configuration.connectionProxyDictionary = nil
                    configuration.settings.proxyEnvironment = ProxyEnvironment([
                        "all_proxy": "socks5h://127.0.0.1:\(proxy.port)"
                    ])
                }
            },
    ]
}

/// Over https a background transfer uses no connection of another one.
private func takesTurns(_ path: MatrixPath) async throws {
    let requests = Box((now: 0, most: 0))
    let seen = try await path.run {
        $0.isSecure = true
        $0.configure = { $0.httpMaximumConnectionsPerHost = 1 }
        $0.loads = 3
        $0.answer = { _ in
            requests.update {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            // Time for requests beyond the limit to arrive. A client that keeps to the limit sends none, however long this
            // takes: the pause can only make a broken limit visible.
            usleep(50_000)
            defer { requests.update { $0.now -= 1 } }
            return nil
        }
    }
    #expect(seen.outcomes.allSatisfy { $0.isLoaded } && seen.outcomes.count == 3)
    #expect(requests.value.most == 1)
}

/// The server is not connected to.
private func goesThroughProxy(
    _ path: MatrixPath, _ configure: @escaping @Sendable (URLSessionConfiguration, ProxyPeer) -> Void
) async throws {
    let proxy = try ProxyPeer()
    defer { proxy.stop() }
    let seen = try await path.run {
        $0.configure = { configure($0, proxy) }
        $0.isEnough = { _ in _ = await proxy.version() }
    }
    #expect(await proxy.version() == 5 && seen.connections == 0)
}

@Sendable private func speaksHTTP2(_ path: MatrixPath) async throws {
    let seen = try await path.run {
        $0.speaksHTTP2 = true
        $0.appliesToFirstPart = true
        $0.configure = { $0.assumesCleartextHTTP2 = true }
    }
    #expect(seen.outcome?.isLoaded == true && !seen.requests.isEmpty)
}

extension Trial {
    /// Two loads after two others that wait for each other at the server, which answers none of them before it has both.
    fileprivate mutating func pipelines() {
        loads = 2
        rounds = 2
        peer = { try PipelinePeer() }
    }
}
