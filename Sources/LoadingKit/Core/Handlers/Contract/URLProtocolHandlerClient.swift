import Foundation

/// Receives the events of a load whose handler overrides ``URLProtocolHandler/startLoading()``.
///
/// All methods may be called from any thread, in the order of the events; events after the end are dropped.
public protocol URLProtocolHandlerClient: NSObjectProtocol, Sendable {
    /// The response redirects to another request. Ends the load: the session starts a new one for `request`.
    func urlProtocol(
        _ protocol: URLProtocolHandler, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)

    /// A stored response answers the request: it is delivered, and the load finishes.
    func urlProtocol(_ protocol: URLProtocolHandler, cachedResponseIsValid cachedResponse: CachedURLResponse)

    /// The response's head was received.
    func urlProtocol(
        _ protocol: URLProtocolHandler, didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy)

    /// A piece of the response's body was received.
    func urlProtocol(_ protocol: URLProtocolHandler, didLoad data: Data)

    /// The complete response was received.
    func urlProtocolDidFinishLoading(_ protocol: URLProtocolHandler)

    /// The load failed.
    func urlProtocol(_ protocol: URLProtocolHandler, didFailWithError error: any Error)

    /// The server requires credentials; the answer goes to the challenge's sender, whose methods may block. Where the
    /// load is cancelled or times out before the answer, it is `cancel(_:)`.
    func urlProtocol(_ protocol: URLProtocolHandler, didReceive challenge: URLAuthenticationChallenge)

    /// The challenge needs no answer any longer.
    func urlProtocol(_ protocol: URLProtocolHandler, didCancel challenge: URLAuthenticationChallenge)
}

/// Apple's name of ``URLProtocolHandlerClient``.
public typealias URLProtocolClient = URLProtocolHandlerClient
