/// Makes connections. Confined to its loop.
package final class Connector {
    private let loop: EventLoop
    private let resolver: Resolver

    package init(loop: EventLoop, resolver: Resolver) {
        self.loop = loop
        self.resolver = resolver
    }

    /// Resolves, races the addresses, and does the TLS handshake.
    ///
    /// - Parameters:
    ///   - tls: With it, the connection is secured.
    ///   - use: The networks that the connection may go over.
    ///   - timeout: Nanoseconds for all of it; `nil` for no limit.
    ///   - completion: Called once, on the loop, after this call has returned; not when the attempt is cancelled.
    package func connect(
        to endpoint: Endpoint, tls: TLSDemand? = nil, over use: NetworkUse = NetworkUse(), timeout: UInt64? = nil,
        completion: @escaping (Result<ByteStream, TransportError>) -> Void
    ) -> ConnectAttempt {
        loop.preconditionCurrent()
        let attempt = ConnectAttempt(endpoint, tls: tls, over: use, on: loop, completion: completion)
        attempt.start(resolver, timeout: timeout)
        return attempt
    }

    /// Puts TLS on a connection (a proxy's tunnel, a protocol's "start TLS"), as soon as the peer expects it and nothing is
    /// left to read: inside the TLS that the connection has, where a proxy is spoken to over TLS. The stream is used up,
    /// whatever comes of it.
    ///
    /// - Parameters:
    ///   - endpoint: What the connection reaches, when that is not the endpoint that the stream was connected to.
    ///   - timeout: Nanoseconds; `nil` for no limit.
    ///   - completion: Called once, on the loop, after this call has returned; not when the attempt is cancelled.
    package func secure(
        _ stream: ByteStream, endpoint: Endpoint? = nil, tls: TLSDemand, timeout: UInt64? = nil,
        completion: @escaping (Result<ByteStream, TransportError>) -> Void
    ) -> ConnectAttempt {
        loop.preconditionCurrent()
        let attempt = ConnectAttempt(
            endpoint ?? stream.info.endpoint, tls: tls, over: NetworkUse(), on: loop, completion: completion)
        attempt.start(over: stream, timeout: timeout)
        return attempt
    }
}
