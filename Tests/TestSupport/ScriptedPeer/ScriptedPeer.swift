import Glibc
import LoadingKitLoopbackServer

/// A server that follows a script byte by byte, on 127.0.0.1 unless told otherwise, and records what it received.
///
///     let peer = try ScriptedPeer([.expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"), .reset])
///     defer { peer.stop() }
///     ... load peer.url("/") ...
///     let request = await peer.request(0)
package final class ScriptedPeer: Sendable {
    /// The behaviour of connections after the last script.
    package enum Further: Sendable, Equatable {
        /// They follow the last script too.
        case repeatLast
        /// Connecting is refused.
        case refuse
        /// The system completes the connection, but nobody ever reads or writes.
        case neverAccept
    }

    package let address: LoopbackAddress
    /// Whether the peer itself began TLS on every connection (its `tls:` argument).
    package let usesTLS: Bool
    /// Requests in the order in which their heads (or, by `.expectRequest`, their bodies too) were complete.
    package let requests = Recorder<RecordedRequest>()
    /// Requests that `.expectBody` has completed.
    package let requestsWithBody = Recorder<RecordedRequest>()
    private let log = ConnectionLog()
    private let stopping = Signal()
    private let released = Signal()
    private let acceptor: ConnectionAcceptor

    /// Every connection follows this script.
    package convenience init(
        _ script: [Step], tls: TLSServerOptions? = nil, on address: LoopbackAddress = .ipv4()
    ) throws {
        try self.init(scripts: [script], tls: tls, on: address)
    }

    /// A script for each connection, in the order of their arrival.
    ///
    /// - Parameters:
    ///   - further: the behaviour of later connections.
    ///   - tls: begins every script with a handshake. `.startTLS` does so at any place instead.
    ///   - backlog: the number of connections that the system may complete before they are accepted.
    package init(
        scripts: [[Step]], further: Further = .repeatLast, tls: TLSServerOptions? = nil,
        on address: LoopbackAddress = .ipv4(), backlog: Int32 = SOMAXCONN
    ) throws {
        let limit: ConnectionAcceptor.Limit? =
            switch further {
            case .repeatLast: nil
            case .refuse: ConnectionAcceptor.Limit(connections: scripts.count, overflow: .refuse)
            case .neverAccept: ConnectionAcceptor.Limit(connections: scripts.count, overflow: .leaveWaiting)
            }
        let start: [Step] = tls.map { [.startTLS($0)] } ?? []
        usesTLS = tls != nil
        let contexts = TLSContexts()
        acceptor = try ConnectionAcceptor(address, backlog: backlog, limit: limit, stopping: stopping) {
            [requests, requestsWithBody, log, stopping, released] socket, number in
            let script = scripts.indices.contains(number) ? scripts[number] : scripts.last ?? []
            log.opened(number)
            let run = ScriptRun(
                socket: socket, number: number, requests: requests, requestsWithBody: requestsWithBody, log: log,
                stopping: stopping, released: released, contexts: contexts)
            run.follow(start + script)
        }
        self.address = acceptor.address
    }

    deinit { stop() }

    /// Ends every connection and every thread. Waits for them.
    package func stop() {
        acceptor.stop()
    }

    /// Lets every `.hold`, now and later, go on.
    package func release() {
        released.fire()
    }

    /// The address of a resource here: `https` where the peer begins with TLS.
    package func url(_ path: String = "/", host: String? = nil) -> String {
        let scheme = usesTLS ? "https" : "http"
        let port = address.port.map { ":\($0)" } ?? ""
        return "\(scheme)://\(host ?? address.host)\(port)\(path)"
    }

    // MARK: What has happened

    /// The record of each connection up to now, by its number from 0.
    package var connections: [RecordedConnection] { log.snapshot }

    /// Suspends until this number of connections has been accepted.
    package func connectionCount(reaches count: Int) async {
        await log.openings.count(reaches: count)
    }

    /// Suspends until this number of connections has ended here, and returns them in the order of their ends.
    @discardableResult
    package func endedCount(reaches count: Int) async -> [RecordedConnection] {
        await log.endings.count(reaches: count)
    }

    /// Suspends until this number of requests has been received.
    @discardableResult
    package func requestCount(reaches count: Int) async -> [RecordedRequest] {
        await requests.count(reaches: count)
    }

    /// Suspends until the request with this number, from 0, has been received. Nil when the task is cancelled first.
    package func receivedRequest(_ number: Int) async -> RecordedRequest? {
        await requests.element(at: number)
    }
}
