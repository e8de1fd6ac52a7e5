import LoadingKitTransport

/// Makes the connections of a session's stream tasks, as its settings' proxies have it. Confined to the session's loop.
package protocol StreamConnecting: AnyObject {
    /// Connects to a host and port.
    ///
    /// - Parameters:
    ///   - receiver: puts a proxy's challenges to the task's program.
    ///   - completion: called once, after this has returned, unless the attempt is cancelled.
    func connect(
        to host: String, port: UInt16, for task: URLSessionTask, challenging receiver: any ChallengeReceiver & TLSAsker,
        completion: @escaping (Result<ConnectedStream, any Error>) -> Void
    ) -> any PendingConnection
}

/// A connection to a stream task's host.
package struct ConnectedStream {
    package let stream: ByteStream
    /// What keeps TLS sessions apart that go by this way.
    package let proxyPartition: String

    package init(_ stream: ByteStream, proxyPartition: String = "") {
        self.stream = stream
        self.proxyPartition = proxyPartition
    }
}

/// A connection to a server that is being made, directly or through a proxy. Confined to its loop.
package protocol PendingConnection: AnyObject {
    /// Ends the attempt. Its completion is not called.
    func cancel()
}

extension ConnectAttempt: PendingConnection {}

/// Makes connections where nothing knows proxies: directly.
final class DirectConnecting: StreamConnecting {
    private let connector: Connector
    private let settings: SessionSettings

    init(_ core: SessionCore) {
        connector = Connector(loop: core.loop, resolver: .shared)
        settings = core.settings
    }

    func connect(
        to host: String, port: UInt16, for task: URLSessionTask, challenging receiver: any ChallengeReceiver & TLSAsker,
        completion: @escaping (Result<ConnectedStream, any Error>) -> Void
    ) -> any PendingConnection {
        connector.connect(
            to: .tcp(host: host, port: port), over: NetworkUse(settings), timeout: settings.connectTimeout
        ) { completion($0.map { ConnectedStream($0) }.mapError { $0 as any Error }) }
    }
}
