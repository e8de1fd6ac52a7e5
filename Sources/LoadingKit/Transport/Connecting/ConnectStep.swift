/// A step in the opening of a connection.
package enum ConnectStep: BitwiseCopyable, Sendable {
    /// The name is being looked up. An address needs no look-up.
    case lookUpBegan
    case lookUpEnded(addressCount: Int32)
    /// A socket is being connected to the address; nil for a Unix socket. Several may be, at the same time.
    case connecting(to: IPAddress?, port: UInt16)
    /// With the number of the system's error; 0 where it was another one.
    case connectFailed(to: IPAddress?, errno: Int32)
    case connected(to: IPAddress?)
    case handshakeBegan
    /// With the version as in TLS, such as `0x0304`.
    case handshakeEnded(version: UInt16)
    /// The opening has failed in the step.
    case failed(ConnectPhase)
    /// The connection is no longer needed.
    case cancelled
}

package enum ConnectPhase: UInt8, BitwiseCopyable, Sendable { case lookUp, connect, handshake }

/// Follows the steps of connections. Called on the event loop.
package protocol ConnectObserver: AnyObject {
    /// A number that no other connection of the observer has.
    func makeConnectionNumber() -> UInt32
    func connection(_ number: UInt32, did step: ConnectStep)
}
