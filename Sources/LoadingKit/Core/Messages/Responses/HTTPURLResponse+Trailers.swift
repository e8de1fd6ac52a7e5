import Foundation
import LoadingKitPrimitives

/// Fields that a server sends behind the body (RFC 9110 §6.5), such as a digest of it, or the status of an RPC.
extension HTTPURLResponse {
    /// The trailer fields, in the order in which they were received, each as often as it was. Empty where there are none, and
    /// until the end of the body was received.
    ///
    /// They are there when a task's end is told: to a completion handler, a delegate, or the caller of
    /// ``URLSession/data(for:delegate:)``. The response of ``URLSession/bytes(for:delegate:)`` has them when the bytes are at
    /// their end. Those of each response, also of one that was followed or asked for a credential, are in the metrics: in the
    /// ``URLSessionTaskTransactionMetrics/response`` of its transaction, where its body was read to its end.
    ///
    /// Fields that have to be known before the body are left out, such as those that frame or describe it, and cookies (RFC
    /// 9110 §6.5.1). The bounds on a response's head include the trailers. A response from a cache has none: they are not stored
    /// (RFC 9111 §3).
    ///
    /// Over HTTP/1.1, servers may wait to be asked for trailers, by the field `TE: trailers` and a `Connection: TE`. These describe
    /// the connection, and are not sent; over HTTP/2, a program may set `TE: trailers`.
    public var trailerFields: [(name: String, value: String)] { trailers?.map { ($0.name, $0.value) } ?? [] }

    /// The value of a trailer field, whatever the case of `field`; several values are joined with commas. Nil when absent.
    public func value(forHTTPTrailerField field: String) -> String? { trailers?[name: field] }

    /// Gives the response its trailer fields, in place of any that it has: for handlers that make responses of their own. Call it
    /// before the end of the body is told. Fields that may not come behind a body are left out.
    public func setTrailerFields(_ fields: [(name: String, value: String)]) {
        trailers = Trailers.allowed(in: HTTPFields(list: fields))
    }

    /// The same response with other header fields, for interceptors. It gets the trailer fields that this one gets; one that is
    /// made anew has none.
    ///
    /// - Parameter fields: all of them. Those without a name are left out.
    public func replacingHeaderFields(by fields: [(name: String, value: String)]) -> HTTPURLResponse {
        HTTPURLResponse(
            url: url ?? URL(fileURLWithPath: "/"), statusCode: statusCode, httpVersion: httpVersion,
            fields: HTTPFields(list: fields), expectedContentLength: expectedContentLength, origin: self)
    }

    package var trailers: HTTPFields? {
        get { later.withLock { $0.trailers } ?? origin?.trailers }
        set { later.withLock { $0.trailers = newValue } }
    }

    /// For what is kept for other requests.
    package var withoutTrailers: HTTPURLResponse {
        guard trailers != nil else { return self }
        return HTTPURLResponse(
            url: url ?? URL(fileURLWithPath: "/"), statusCode: statusCode, httpVersion: httpVersion, fields: fields,
            expectedContentLength: expectedContentLength)
    }
}
