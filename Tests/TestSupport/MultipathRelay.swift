import Foundation
import Glibc
import LoadingKitLoopbackServer
import LoadingKitPrimitives

/// Accepts connections over Multipath TCP, where the system has that, and passes their bytes on to a server.
package final class MultipathRelay: Sendable {
    package let port: UInt16
    private let descriptor: Int32
    private let seen = Box<Set<Bool>>([])
    private let sockets = Box<[Int32]>([])
    private let accepting = Box<WorkerThread?>(nil)
    /// Those that pass bytes on.
    private let threads = Box<[WorkerThread]>([])

    /// Whether connections were of Multipath TCP.
    package var areMultipath: Set<Bool> { seen.value }

    package init(to target: UInt16) throws {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let multipath = socket(AF_INET, type, Int32(262))
        let listening = multipath >= 0 ? multipath : socket(AF_INET, type, 0)
        var (address, length) = (Self.loopback(0), socklen_t(MemoryLayout<sockaddr_in>.size))
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listening, $0, length) == 0 && listen(listening, 8) == 0
                    && getsockname(listening, $0, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        descriptor = listening
        port = UInt16(bigEndian: address.sin_port)
        accepting.value = try WorkerThread { [self] in accept(for: target) }
    }

    /// What came up to now is not looked at.
    package func begin() { seen.value = [] }

    /// Whether the system has Multipath TCP.
    package static var isThere: Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), Int32(262))
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    package func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        // A connection that has just come is among the others after this.
        accepting.value?.join()
        for socket in sockets.value { shutdown(socket, Int32(SHUT_RDWR)) }
        for thread in threads.update({ threads in
            defer { threads = [] }
            return threads
        }) { thread.join() }
        for socket in sockets.update({ sockets in
            defer { sockets = [] }
            return sockets
        }) { close(socket) }
        close(descriptor)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private func accept(for target: UInt16) {
        while case let client = Glibc.accept(descriptor, nil, nil), client >= 0 {
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = Self.loopback(target)
            _ = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            sockets.update { $0 += [client, server] }
            seen.update { _ = $0.insert(Self.isMultipath(client)) }
            for (from, to) in [(client, server), (server, client)] {
                guard let thread = try? WorkerThread({ Self.pass(from, to) }) else { continue }
                threads.update { $0.append(thread) }
            }
        }
    }

    /// Whether the client has spoken it, too: a connection that fell back says so (`MPTCP_INFO`, its flags).
    private static func isMultipath(_ descriptor: Int32) -> Bool {
        var info = [UInt8](repeating: 0, count: 128)
        var length = socklen_t(info.count)
        return getsockopt(descriptor, 284, 1, &info, &length) == 0 && info[8] & 1 == 0
    }

    private static func pass(_ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while case let count = recv(from, &buffer, buffer.count, 0), count > 0 {
            guard send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(to, Int32(SHUT_WR))
    }
}
