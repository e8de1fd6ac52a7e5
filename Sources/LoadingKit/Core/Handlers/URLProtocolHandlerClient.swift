import Foundation

/// What a handler that overrides ``URLProtocolHandler/startLoading()`` tells of its load.
///
/// All may be called from any thread, in the order in which things happen; what comes after the end is dropped.
public protocol URLProtocolHandlerClient: NSObjectProtocol, Sendable {
    /// The response asks for another request. Ends the load: the session starts a new one for `request`.
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

    /// All was received.
    func urlProtocolDidFinishLoading(_ protocol: URLProtocolHandler)

    /// The load failed.
    func urlProtocol(_ protocol: URLProtocolHandler, didFailWithError error: any Error)

    /// The server asks for credentials; the challenge's sender is told the answer.
    func urlProtocol(_ protocol: URLProtocolHandler, didReceive challenge: URLAuthenticationChallenge)

    /// The challenge needs no answer any more.
    func urlProtocol(_ protocol: URLProtocolHandler, didCancel challenge: URLAuthenticationChallenge)
}

/// Apple's name of ``URLProtocolHandlerClient``.
public typealias URLProtocolClient = URLProtocolHandlerClient
