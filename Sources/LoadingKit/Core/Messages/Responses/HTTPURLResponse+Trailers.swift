import Foundation
import LoadingKitPrimitives

/// Fields that a server sends after the body (RFC 9110 §6.5), such as its digest, or the status of an RPC.
extension HTTPURLResponse {
    /// The trailer fields, in the order in which they were received, including repeated fields. Empty where there are
    /// none, and until the end of the body was received.
    ///
    /// They are available when a task's end is reported: to a completion handler, a delegate, or the caller of
    /// ``URLSession/data(for:delegate:)``. The response of ``URLSession/bytes(for:delegate:)`` has them at the end of
    /// the bytes. The metrics have the trailers of each response, including one that was followed as a redirect or
    /// required a credential: in the ``URLSessionTaskTransactionMetrics/response`` of its transaction, where its body
    /// was read to its end.
    ///
    /// Fields that must be known before the body are left out, such as cookies and fields that frame or describe the
    /// body (RFC 9110 §6.5.1). The limits for a response's head include the trailers. A response from a cache has no
    /// trailers: they are not stored (RFC 9111 §3).
    ///
    /// Over HTTP/1.1, a server may send trailers only after a request with `TE: trailers` and `Connection: TE`. These
    /// fields describe the connection, and are not sent. Over HTTP/2, a program may set `TE: trailers`.
    public var trailerFields: [(name: String, value: String)] { trailers?.map { ($0.name, $0.value) } ?? [] }

    /// The value of a trailer field, regardless of the case of `field`; several values are joined with commas. Nil when
    /// absent.
    public func value(forHTTPTrailerField field: String) -> String? { trailers?[name: field] }

    /// Sets the trailer fields of the response, and replaces existing ones: for handlers that make responses. Call it
    /// before the end of the body is reported. Fields that may not follow a body are left out.
    public func setTrailerFields(_ fields: [(name: String, value: String)]) {
        trailers = Trailers.allowed(in: HTTPFields(list: fields))
    }

    /// The same response with other header fields, for interceptors. It receives the same trailer fields as this
    /// response; a newly made response has none.
    ///
    /// - Parameter fields: all fields. Fields without a name are left out.
    public func replacingHeaderFields(by fields: [(name: String, value: String)]) -> HTTPURLResponse {
        copy(fields: HTTPFields(list: fields), origin: self)
    }

    package var trailers: HTTPFields? {
        get { later.withLock { $0.trailers } ?? origin?.trailers }
        set { later.withLock { $0.trailers = newValue } }
    }

    /// The response to store for other requests.
    package var withoutTrailers: HTTPURLResponse { trailers == nil ? self : copy(origin: nil) }
}
