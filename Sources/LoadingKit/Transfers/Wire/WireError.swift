import LoadingKitTransport

/// The reason why a connection between a program and the daemon is closed.
package enum WireError: Error, Hashable, Sendable, CustomStringConvertible {
    case closedByPeer
    case failed(SystemCallFailure)
    /// More bytes wait for the peer than ``SocketLink/maximumWaiting``.
    case peerReadsNothing
    /// A message announced this number of bytes, which exceeds the limit.
    case messageTooLong(Int)
    /// The received bytes are no message of any version.
    case malformed
    /// A message announced this number of descriptors, which exceeds ``WireLimits/descriptors``.
    case tooManyDescriptors(Int)
    /// A message announced descriptors that did not come with it, or descriptors came that no message announced.
    case wrongDescriptors
    case noHello
    case noCommonVersion(WireVersion)

    package var description: String {
        switch self {
        case .closedByPeer: "the other end closed the connection"
        case .failed(let failure): "\(failure)"
        case .peerReadsNothing: "the other end does not read what is sent"
        case .messageTooLong(let length): "a message would have \(length) bytes"
        case .malformed: "a message cannot be read"
        case .tooManyDescriptors(let count): "a message would have \(count) descriptors"
        case .wrongDescriptors: "the descriptors received are not those announced"
        case .noHello: "the first message is no greeting"
        case .noCommonVersion(let version):
            "the other end speaks the versions \(version.lowest) to \(version.highest), this one "
                + "\(WireVersion.current.lowest) to \(WireVersion.current.highest)"
        }
    }
}
