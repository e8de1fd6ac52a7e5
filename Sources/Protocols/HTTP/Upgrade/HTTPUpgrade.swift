import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

/// Another protocol that a request asks its connection to switch to (RFC 9110 §7.8), or its stream of one (RFC 8441).
/// Confined to the session's loop.
///
/// Once the response has granted that, the exchange's body is what the other protocol receives, and what it sends takes
/// the way of the request's.
protocol HTTPUpgrade: AnyObject {
    /// As `Upgrade` and `:protocol` have it.
    var name: String { get }
    /// Adds the fields that the request has in any version.
    func addFields(to fields: inout HTTPFields)
    /// Adds those that it has in HTTP/1.1 alone.
    func addUpgradeFields(to fields: inout HTTPFields)
    /// The response grants the switch; throws where it does so otherwise than it may.
    func granted(_ head: ResponseHead) throws

    /// Puts what is to be sent next into an empty buffer: as much as is worth a write, nothing when there is nothing. What
    /// was given before has been taken then. Not before ``granted(_:)``.
    func takeOutput(_ buffer: inout [UInt8])
    /// The last that is to be sent, now that the exchange is over; nothing where the middle of something has been given.
    func takeLastOutput(_ buffer: inout [UInt8])
}
