/// Why the other end of a connection cannot be understood. The connection is closed then.
package enum WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A message is longer than its kind may be: one of this kind announced so many bytes.
    case messageTooLong(kind: UInt16, length: Int)
    /// A message of a known kind whose content cannot be read.
    case malformed(kind: UInt16)
    /// A message announced so many descriptors, more than ``WireLimits/descriptors``.
    case tooManyDescriptors(Int)
    /// A message announced descriptors that did not come with it, or some came with none.
    case wrongDescriptors
    /// The first message is no greeting.
    case noHello(kind: UInt16)
    /// The ends speak no version that both know.
    case noCommonVersion(WireVersion)

    package var description: String {
        switch self {
        case .messageTooLong(let kind, let length): "a message of kind \(kind) would have \(length) bytes"
        case .malformed(let kind): "a message of kind \(kind) cannot be read"
        case .tooManyDescriptors(let count): "a message would have \(count) descriptors"
        case .wrongDescriptors: "the descriptors received are not those announced"
        case .noHello(let kind): "the first message is of kind \(kind), and no greeting"
        case .noCommonVersion(let version):
            "the other end speaks the versions \(version.lowest) to \(version.highest), this one "
                + "\(WireVersion.current.lowest) to \(WireVersion.current.highest)"
        }
    }
}
