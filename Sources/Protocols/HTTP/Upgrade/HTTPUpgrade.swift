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
    /// Adds the fields that only an HTTP/1.1 request has.
    func addUpgradeFields(to fields: inout HTTPFields)
    /// The server has granted the switch. Throws if its response violates the protocol.
    func serverDidGrant(_ head: ResponseHead) throws

    /// Appends the next output to an empty buffer: enough for one write, or none. The output before it has been
    /// written. Called only after ``serverDidGrant(_:)``.
    func takeOutput(_ buffer: inout [UInt8])
    /// Appends the last output to a buffer, as the exchange is over; none if a message has been sent in part.
    func takeLastOutput(_ buffer: inout [UInt8])
}

/// Requests after whose response the program may own the connection.
extension URLRequest {
    /// Whether the request is for another protocol, or for a tunnel.
    var requestsConnection: Bool { httpMethod == "CONNECT" || upgradeProtocols != nil }

    /// The protocols of `Upgrade`, to which the connection may switch (RFC 9110 §7.8); nil if there is none.
    var upgradeProtocols: String? {
        let value = fields[.upgrade]?.trimmingCharacters(in: .whitespaces)
        return value?.isEmpty == false ? value : nil
    }

    /// The value of `Connection`: the caller's options if they include the required `upgrade`.
    var upgradeConnection: String {
        let value = fields[.connection] ?? ""
        let options = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        return options.contains("upgrade") ? value.trimmingCharacters(in: .whitespaces) : "Upgrade"
    }
}
