/// A handler class whose module also connects stream tasks. Without one, they connect directly.
package protocol StreamConnectingHandler: URLProtocolHandler {
    static func streamConnections(for task: URLSessionTask, of core: SessionCore) -> any StreamConnecting
}

extension URLProtocolRegistry {
    /// The connections of the first built-in handler that makes them.
    func streamConnections(for task: URLSessionTask, of core: SessionCore) -> (any StreamConnecting)? {
        let handler = builtInTypes.lazy.compactMap { $0 as? any StreamConnectingHandler.Type }.first
        return handler?.streamConnections(for: task, of: core)
    }
}
