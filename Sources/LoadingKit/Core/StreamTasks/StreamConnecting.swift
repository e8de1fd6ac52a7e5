import LoadingKitTransport

/// Makes the connections of a session's stream tasks, with the proxies of its settings. Confined to the session's loop.
package protocol StreamConnecting: AnyObject {
    /// Connects to a host and port.
    ///
    /// - Parameters:
    ///   - receiver: passes a proxy's challenges to the task's program.
    ///   - completion: called once, after this method has returned, unless the attempt is cancelled.
    func connect(
        to host: String, port: UInt16, for task: URLSessionTask, challenging receiver: any ChallengeReceiver & TLSAsker,
        completion: @escaping (Result<ConnectedStream, any Error>) -> Void
    ) -> any PendingConnection
}

/// A handler class whose module also connects stream tasks. Without one, they connect directly.
package protocol StreamConnectingHandler: URLProtocolHandler {
    static func streamConnections(of core: SessionCore) -> any StreamConnecting
}

extension URLProtocolRegistry {
    /// The connections of the first built-in handler that makes them.
    func streamConnections(of core: SessionCore) -> (any StreamConnecting)? {
        builtInTypes.lazy.compactMap { $0 as? any StreamConnectingHandler.Type }.first?.streamConnections(of: core)
    }
}

package struct ConnectedStream {
    package let stream: ByteStream
    /// Connections with the same partition may resume each other's TLS sessions.
    package let proxyPartition: String

    package init(_ stream: ByteStream, proxyPartition: String = "") {
        self.stream = stream
        self.proxyPartition = proxyPartition
    }
}

/// A connection to a server, directly or through a proxy, that is not yet established. Confined to its loop.
package protocol PendingConnection: AnyObject {
    func cancel()
}

extension ConnectAttempt: PendingConnection {}

/// Makes direct connections, where there is no module with proxies.
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
