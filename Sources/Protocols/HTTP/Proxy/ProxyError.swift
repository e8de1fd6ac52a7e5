import LoadingKitCore

/// Why a proxy does not carry a connection. It names the proxy, as the server that was wanted is not at fault.
struct ProxyError: Error, Hashable, CustomStringConvertible {
    enum Cause: Error, Hashable {
        /// There is no connection to the proxy; why.
        case unreachable(String)
        /// An HTTP proxy's status for `CONNECT`, and its reason.
        case status(Int, String)
        /// A SOCKS proxy's reply, in its specification's words.
        case refused(String)
        /// The proxy wants a user and password, and was told none, or not these.
        case authentication
        /// What came is no answer that the proxy may give; why.
        case malformed(String)
        /// The proxy closed the connection before it had answered.
        case closed
        /// The host's name is too long to be told, or has bytes that no name has.
        case unusableName
    }

    let proxy: Proxy
    /// Host and port that were to be reached.
    let destination: String
    let cause: Cause

    var description: String { "The proxy \(proxy.description) did not connect to \(destination): \(cause.text)" }
}

extension LoadFailure {
    init(_ error: ProxyError) {
        self.init(
            error.cause == .authentication ? .userAuthenticationRequired : .cannotConnectToHost, error.description)
    }
}

extension ProxyError.Cause {
    fileprivate var text: String {
        switch self {
        case .unreachable(let reason): reason
        case .status(let status, let reason): "it answered \(status)\(reason.isEmpty ? "" : " \(reason)")"
        case .refused(let reply): reply
        case .authentication:
            "it wants another user name and password: from its settings, the credential storage, or the task's delegate"
        case .malformed(let reason): "its answer makes no sense (\(reason))"
        case .closed: "it closed the connection without an answer"
        case .unusableName: "the host's name cannot be told to it"
        }
    }
}
