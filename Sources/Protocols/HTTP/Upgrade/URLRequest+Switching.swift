import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// Requests that a server may answer by leaving the connection to the program.
extension URLRequest {
    /// Whether the request asks for another protocol, or for a tunnel.
    var asksForConnection: Bool { httpMethod == "CONNECT" || upgradeProtocols != nil }

    /// What the connection is to switch to (RFC 9110 §7.8); nil where nothing is named.
    var upgradeProtocols: String? {
        let value = fields[.upgrade]?.trimmingCharacters(in: .whitespaces)
        return value?.isEmpty == false ? value : nil
    }

    /// The caller's options where `upgrade` is among them, as it has to be.
    var upgradeConnection: String {
        let value = fields[.connection] ?? ""
        let options = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        return options.contains("upgrade") ? value.trimmingCharacters(in: .whitespaces) : "Upgrade"
    }
}
