import Foundation
import LoadingKitPrimitives

/// A loopback port that refuses connections for as long as this object lives: it is bound, so that nobody else gets it, and
/// nobody listens. A server of the test's own can listen there meanwhile, as both sockets allow that (`SO_REUSEADDR`).
package final class RefusingPort: Sendable {
    package let number: UInt16
    private let descriptor: Int32

    package init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
            }
        }
        guard descriptor >= 0, result else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        self.descriptor = descriptor
        number = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    private static let kept = Guarded<[RefusingPort]>([])

    /// The number of a new port that refuses connections until the process ends.
    package static func keepOne() throws -> UInt16 {
        let port = try RefusingPort()
        kept.withLock { $0.append(port) }
        return port.number
    }
}
