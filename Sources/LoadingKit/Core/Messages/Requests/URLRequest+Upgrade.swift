import Foundation
import LoadingKitPrimitives

extension URLRequest {
    /// Whether the request is for another protocol, or for a tunnel.
    package var requestsConnection: Bool { httpMethod == "CONNECT" || upgradeProtocols != nil }

    /// The protocols of `Upgrade`, to which the connection may switch (RFC 9110 §7.8); nil if there is none.
    package var upgradeProtocols: String? {
        let value = fields[.upgrade]?.trimmingCharacters(in: .whitespaces)
        return value?.isEmpty == false ? value : nil
    }
}
