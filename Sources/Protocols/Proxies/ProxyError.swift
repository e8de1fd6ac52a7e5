import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The failure of a connection through a proxy. It names the proxy, as the destination is not the cause.
package struct ProxyError: Error, Hashable, CustomStringConvertible {
    package enum Cause: Error, Hashable {
        /// The proxy cannot be reached, for the given reason.
        case unreachable(TransportError)
        /// The proxy did not answer in the time allowed while there is another route.
        case silent
        /// The message that the proxy has not completely sent in time.
        case unanswered(String)
        /// An HTTP proxy's status for `CONNECT`, and its reason phrase.
        case status(Int, String)
        /// A SOCKS proxy's reply, with the specification's words.
        case refused(String)
        /// The proxy requires a user and a password, and got none or wrong ones.
        case authentication
        /// The proxy's answer violates its protocol, for the given reason.
        case malformed(String)
        /// The proxy closed the connection before it answered.
        case closed
        /// The host's name is too long for the proxy's protocol, or contains invalid bytes.
        case unusableName
    }

    package let proxy: Proxy
    /// The host and port of the destination.
    package let destination: String
    package let cause: Cause

    package init(proxy: Proxy, destination: String, cause: Cause) {
        self.proxy = proxy
        self.destination = destination
        self.cause = cause
    }

    /// Whether there is no network by which the proxy can be reached, or the load excludes it.
    var isLackOfNetwork: Bool {
        if case .unreachable(let error) = cause { error.category == .noNetwork } else { false }
    }

    package var description: String {
        "The proxy \(proxy.description) did not connect to \(destination): \(cause.text)"
    }
}

extension LoadFailure {
    package init(_ error: ProxyError) {
        let code: URLError.Code =
            switch error.cause {
            case .authentication: .userAuthenticationRequired
            case .unanswered: .timedOut
            case .unreachable where error.isLackOfNetwork: .notConnectedToInternet
            case .unreachable, .silent, .status, .refused, .malformed, .closed, .unusableName: .cannotConnectToHost
            }
        self.init(code, error.description, unavailability: error.cause.unavailability)
    }
}

extension ProxyError.Cause {
    fileprivate var unavailability: URLError.NetworkUnavailableReason? {
        if case .unreachable(let error) = self { URLError.NetworkUnavailableReason(error) } else { nil }
    }

    fileprivate var text: String {
        switch self {
        case .unreachable(let error): error.description
        case .silent: "it does not answer"
        case .unanswered(let awaited): "timed out; \(awaited) was waited for"
        case .status(let status, let reason): "it answered \(status)\(reason.isEmpty ? "" : " \(reason)")"
        case .refused(let reply): reply
        case .authentication:
            "it wants another user name and password: from its settings, the credential storage, or the task's delegate"
        case .malformed(let reason): "its answer makes no sense (\(reason))"
        case .closed: "it closed the connection without an answer"
        case .unusableName: "the host's name cannot be sent to it"
        }
    }
}
