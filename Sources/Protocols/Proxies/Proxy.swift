import LoadingKitCore
import LoadingKitTransport

/// A server through which connections to other servers are opened.
package typealias Proxy = ProxyChoice.Server

extension ProxyChoice.Server {
    package typealias Kind = ProxyChoice.Kind

    package struct Credential: Hashable, Sendable {
        package let user: String
        package let password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    package init(kind: Kind, host: String, port: UInt16, credential: Credential?) {
        self.init(kind: kind, host: host, port: port, user: credential?.user, password: credential?.password)
    }

    package var credential: Credential? { user.map { Credential(user: $0, password: password ?? "") } }

    /// The proxy without its credential, for messages.
    package var description: String { "\(kind.scheme)://\(endpoint)" }

    package var endpoint: Endpoint { .tcp(host: host, port: port) }

    /// The partition of TLS sessions that were established through the proxy. It includes the proxy's user.
    package var partition: String { "\(description) \(user ?? "")" }
}
