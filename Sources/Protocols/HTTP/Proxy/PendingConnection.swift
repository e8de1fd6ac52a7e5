import LoadingKitTransport

/// A connection to a server that is being made, perhaps through a proxy. Confined to its loop.
protocol PendingConnection: AnyObject {
    /// Ends the attempt; nobody is told.
    func cancel()
}

extension ConnectAttempt: PendingConnection {}
