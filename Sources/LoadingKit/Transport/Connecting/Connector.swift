/// Opens connections. Confined to its loop.
package final class Connector {
    private let loop: EventLoop
    private let resolver: Resolver
    private let substitution: ConnectSubstitution?
    private let observer: (any ConnectObserver)?

    package init(
        loop: EventLoop, resolver: Resolver, substitution: ConnectSubstitution? = nil,
        observer: (any ConnectObserver)? = nil
    ) {
        self.loop = loop
        self.observer = observer
        self.resolver = resolver
        self.substitution = substitution
    }

    /// The system's networks have changed: names are resolved anew.
    package func networkDidChange() {
        resolver.forget()
        substitution?.resolver?.forget()
    }

    /// Resolves the name, races the addresses, and performs the TLS handshake.
    ///
    /// - Parameters:
    ///   - tls: The TLS requirements; nil for a connection without TLS.
    ///   - use: The networks that the connection may use.
    ///   - timeout: The limit for all steps together in nanoseconds; `nil` for no limit.
    ///   - completion: Called once, on the loop, after this call has returned; not called if the attempt is cancelled.
    package func connect(
        to endpoint: Endpoint, tls: TLSDemand? = nil, over use: NetworkUse = NetworkUse(), timeout: UInt64? = nil,
        completion: @escaping (Result<ByteStream, TransportError>) -> Void
    ) -> ConnectAttempt {
        loop.preconditionCurrent()
        let endpoint = substitution?.endpoint(endpoint) ?? endpoint
        let attempt = ConnectAttempt(
            endpoint, tls: tls, over: use, on: loop, observer: observer, completion: completion)
        attempt.start(substitution?.resolver ?? resolver, timeout: timeout)
        return attempt
    }

    /// Starts TLS on an existing connection (a proxy's tunnel, a protocol's "start TLS") when the peer expects it and
    /// all input was read. If the connection already has TLS, as to a proxy, the new TLS runs inside it. The stream
    /// cannot be used afterwards, even if this fails.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint that the connection reaches, if it is not the one to which the stream was connected.
    ///   - timeout: The limit in nanoseconds; `nil` for no limit.
    ///   - completion: Called once, on the loop, after this call has returned; not called if the attempt is cancelled.
    package func secure(
        _ stream: ByteStream, endpoint: Endpoint? = nil, tls: TLSDemand, timeout: UInt64? = nil,
        completion: @escaping (Result<ByteStream, TransportError>) -> Void
    ) -> ConnectAttempt {
        loop.preconditionCurrent()
        var use = NetworkUse()
        use.isMultipath = stream.info.isMultipath
        let attempt = ConnectAttempt(
            endpoint ?? stream.info.endpoint, tls: tls, over: use, on: loop, observer: observer,
            number: stream.info.number, completion: completion)
        attempt.start(over: stream, timeout: timeout)
        return attempt
    }
}

/// Where a session's connections lead in place of the servers in its URLs, for a program of this package. Names in TLS
/// and in `Host` stay the same.
package struct ConnectSubstitution: Sendable {
    package let endpoint: @Sendable (Endpoint) -> Endpoint
    /// Finds the addresses of names; nil for the process's resolver.
    package let resolver: Resolver?

    package init(resolver: Resolver? = nil, endpoint: @escaping @Sendable (Endpoint) -> Endpoint) {
        self.resolver = resolver
        self.endpoint = endpoint
    }
}
