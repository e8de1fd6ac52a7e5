import Foundation
import LoadingKitPrimitives

/// Makes connections: resolves, races addresses, does the TLS handshake. Confined to its loop.
package final class Connector {
    private let loop: EventLoop
    private let resolver: Resolver

    package init(loop: EventLoop, resolver: Resolver) {
        self.loop = loop
        self.resolver = resolver
    }

    /// Calls `completion` once, on the loop, not before this returns; never, if the attempt is cancelled before.
    ///
    /// - Parameter timeout: nanoseconds for all of it; nil for no bound.
    package func connect(
        to endpoint: Endpoint, tls: (context: TLSContext, serverName: String)?, timeout: UInt64?,
        completion: @escaping (Result<ByteStream, TransportError>) -> Void
    ) -> ConnectAttempt {
        let attempt = ConnectAttempt(loop, resolver, endpoint, tls, completion)
        attempt.begin(timeout)
        return attempt
    }
}
