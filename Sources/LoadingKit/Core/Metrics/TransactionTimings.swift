import LoadingKitPrimitives

/// What one transaction (one request and its response) noted of itself, as plain values that cost nothing to fill.
///
/// A point that was not reached, or that does not apply, is nil.
package struct TransactionTimings: Sendable {
    package var fetchStart: MonotonicTime?
    package var requestStart: MonotonicTime?
    package var requestEnd: MonotonicTime?
    package var responseStart: MonotonicTime?
    package var responseEnd: MonotonicTime?

    package var requestHeaderBytesSent: Int64 = 0
    package var requestBodyBytesSent: Int64 = 0
    package var requestBodyBytesBeforeEncoding: Int64 = 0
    package var responseHeaderBytesReceived: Int64 = 0
    package var responseBodyBytesReceived: Int64 = 0
    package var responseBodyBytesAfterDecoding: Int64 = 0

    /// Nil without one, as of what the cache has.
    package var connection: ConnectionMetrics?
    package var isReusedConnection = false

    package var resourceFetchType = URLSessionTaskMetrics.ResourceFetchType.unknown
    package var domainResolutionProtocol = URLSessionTaskMetrics.DomainResolutionProtocol.unknown

    package init(fetchStart: MonotonicTime? = nil, connection: ConnectionMetrics? = nil) {
        self.fetchStart = fetchStart
        self.connection = connection
    }

    /// The request is about to be sent. What was noted of a connection that came to nothing is void.
    package mutating func beginRequest(on connection: ConnectionMetrics, isReused: Bool, at time: MonotonicTime) {
        self = TransactionTimings(fetchStart: fetchStart, connection: connection)
        isReusedConnection = isReused
        requestStart = time
    }
}
