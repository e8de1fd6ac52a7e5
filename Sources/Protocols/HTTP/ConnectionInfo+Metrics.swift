import LoadingKitCore
import LoadingKitTransport

extension ConnectionInfo {
    /// Puts what is known of the connection into a transaction's metrics. One that was made before has no times of its
    /// making there.
    func describe(in timings: inout TransactionTimings, isReused: Bool) {
        timings.isReusedConnection = isReused
        timings.localAddress = localAddress
        timings.localPort = localPort
        timings.remoteAddress = remoteAddress
        timings.remotePort = remotePort
        timings.networkProtocolName = tls?.alpn ?? "http/1.1"
        timings.tlsProtocolVersion = tls?.version
        timings.tlsCipherSuite = tls?.cipherSuite
        guard !isReused else { return }
        timings.domainLookupStart = self.timings.resolveStart
        timings.domainLookupEnd = self.timings.resolveEnd
        timings.connectStart = self.timings.connectStart
        timings.connectEnd = self.timings.tlsEnd ?? self.timings.connectEnd
        timings.secureConnectionStart = self.timings.tlsStart
        timings.secureConnectionEnd = self.timings.tlsEnd
    }
}
