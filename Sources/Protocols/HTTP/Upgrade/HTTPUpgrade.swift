import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

/// Another protocol, to which a request switches its connection (RFC 9110 §7.8) or its HTTP/2 stream (RFC 8441).
/// Confined to the session's loop.
///
/// After the response has granted the switch, the exchange's body is the other protocol's input. Its output is sent in
/// place of a request's body.
protocol HTTPUpgrade: AnyObject {
    /// The name in `Upgrade` and `:protocol`.
    var name: String { get }
    /// Adds the fields that the request has in every version of HTTP.
    func addFields(to fields: inout HTTPFields)
    /// Adds the fields that the request has in HTTP/1.1 alone.
    func addUpgradeFields(to fields: inout HTTPFields)
    /// The server has granted the switch. Throws where its response breaks the protocol.
    func serverDidGrant(_ head: ResponseHead) throws

    /// Puts the next output into an empty buffer: as much as is worth a write, or nothing. The output before it has been
    /// written. Called after ``serverDidGrant(_:)`` only.
    func takeOutput(_ buffer: inout [UInt8])
    /// Puts the last output into a buffer, as the exchange is over: nothing where a message has been sent in part.
    func takeLastOutput(_ buffer: inout [UInt8])
}

/// Requests after which the connection may be the program's.
extension URLRequest {
    /// Whether the request is for another protocol, or for a tunnel.
    var requestsConnection: Bool { httpMethod == "CONNECT" || upgradeProtocols != nil }

    /// The protocols of `Upgrade`, to which the connection may switch (RFC 9110 §7.8); nil where there is none.
    var upgradeProtocols: String? {
        let value = fields[.upgrade]?.trimmingCharacters(in: .whitespaces)
        return value?.isEmpty == false ? value : nil
    }

    /// The value of `Connection`: the caller's options where they include `upgrade`, which is required.
    var upgradeConnection: String {
        let value = fields[.connection] ?? ""
        let options = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        return options.contains("upgrade") ? value.trimmingCharacters(in: .whitespaces) : "Upgrade"
    }
}
