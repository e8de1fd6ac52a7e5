import LoadingKitCore
import LoadingKitTransport

extension ConnectionInfo {
    /// What is known of the connection, for the metrics of the first transaction on it. Made once for a connection, as
    /// addresses in text are not free.
    func metrics(isProxied: Bool) -> TransactionTimings {
        var metrics = reusedMetrics(isProxied: isProxied)
        metrics.isReusedConnection = false
        metrics.note(timings)
        return metrics
    }

    /// The same for later transactions, which did not make the connection.
    func reusedMetrics(isProxied: Bool) -> TransactionTimings {
        var metrics = TransactionTimings()
        metrics.isReusedConnection = true
        metrics.isProxyConnection = isProxied
        metrics.localAddress = local.address
        metrics.localPort = local.port
        metrics.remoteAddress = remote.address
        metrics.remotePort = remote.port
        metrics.networkProtocolName = tls?.alpn ?? "http/1.1"
        metrics.tlsProtocolVersion = tls?.protocolVersion
        metrics.tlsCipherSuite = tls?.cipherSuite
        return metrics
    }
}

extension TransactionTimings {
    /// How far the making of a connection has come.
    mutating func note(_ connection: ConnectTimings) {
        domainLookupStart = connection.resolveStart
        domainLookupEnd = connection.resolveEnd
        connectStart = connection.connectStart
        connectEnd = connection.tlsStart == nil ? connection.connectEnd : connection.tlsEnd
        secureConnectionStart = connection.tlsStart
        secureConnectionEnd = connection.tlsEnd
    }
}
