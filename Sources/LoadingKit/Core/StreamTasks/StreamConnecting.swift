import LoadingKitTransport

/// Makes the connections of a stream task, with the proxies of its session's settings. Confined to the session's loop.
package protocol StreamConnecting {
    /// Connects to a host and port.
    ///
    /// - Parameters:
    ///   - receiver: passes a proxy's challenges to the task's program.
    ///   - completion: called once, after this method has returned, unless the attempt is cancelled.
    func connect(
        to host: String, port: UInt16, challenging receiver: any ChallengeReceiver & TLSAsker,
        completion: @escaping (Result<ConnectedStream, any Error>) -> Void
    ) -> any PendingConnection
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
    /// The connection's number in its session; 0 where there is none yet.
    var number: UInt32 { get }
    func cancel()
}

extension ConnectAttempt: PendingConnection {}

/// Makes direct connections, where there is no module with proxies.
struct DirectConnecting: StreamConnecting {
    let connector: Connector
    let use: NetworkUse
    let timeout: UInt64?

    func connect(
        to host: String, port: UInt16, challenging receiver: any ChallengeReceiver & TLSAsker,
        completion: @escaping (Result<ConnectedStream, any Error>) -> Void
    ) -> any PendingConnection {
        connector.connect(to: .tcp(host: host, port: port), over: use, timeout: timeout) {
            completion($0.map { ConnectedStream($0) }.mapError { $0 as any Error })
        }
    }
}
