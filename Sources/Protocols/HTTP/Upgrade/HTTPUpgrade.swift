import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

/// Another protocol, to which a request switches its connection (RFC 9110 §7.8) or its HTTP/2 stream (RFC 8441). The
/// exchange's body is then its input, and its output is sent as the request's body. Confined to the session's loop.
protocol HTTPUpgrade: AnyObject {
    /// The name in `Upgrade` and `:protocol`.
    var name: String { get }
    func addFields(to fields: inout HTTPFields)
    func addUpgradeFields(to fields: inout HTTPFields)
    /// Throws if the response that grants the switch violates the protocol.
    func serverDidGrant(_ head: ResponseHead) throws

    /// Appends the next output to an empty buffer: enough for one write, or none. The output before it was written.
    func takeOutput(_ buffer: inout [UInt8])
    /// Bytes of the output were written. More than one call may be needed for a buffer.
    func outputDidProgress()
    /// Appends the last output, as the exchange is over; none if a message has been sent in part.
    func takeLastOutput(_ buffer: inout [UInt8])
}

extension URLRequest {
    /// The value of `Connection`: the caller's options if they include the required `upgrade`.
    var upgradeConnection: String {
        let value = fields[.connection] ?? ""
        let options = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        return options.contains("upgrade") ? value.trimmingCharacters(in: .whitespaces) : "Upgrade"
    }
}
