import Foundation
import Glibc
import LoadingKitLoopbackServer

/// What a server finds out about its clients' sockets, by their machine's being its own.
struct Clients: Sendable {
    fileprivate(set) var sockets = ClientSockets()
    fileprivate(set) var areOfThisProcess: Set<Bool> = []
}

extension Box<Clients> {
    /// To be called while they are connected.
    func look(at port: UInt16) {
        let (sockets, isOurs) = (SocketMarks.ofClients(of: port), SocketMarks.isConnectedTo(port))
        update {
            $0.sockets.marks.formUnion(sockets.marks)
            $0.sockets.addresses.formUnion(sockets.addresses)
            $0.areOfThisProcess.insert(isOurs)
        }
    }

    var found: (ClientSockets, Set<Bool>) { (value.sockets, value.areOfThisProcess) }
}

/// The sockets that are connected to a server.
package struct ClientSockets: Sendable {
    /// The type of service of each, without its last two bits (RFC 2474): 0 for ordinary traffic.
    package var marks: Set<UInt8> = []
    /// The addresses of those that use IPv4.
    package var addresses: Set<String> = []
}

/// What the system knows of the sockets that are connected to a port (sock_diag(7)), of whichever process they are.
package enum SocketMarks {
    package static func ofClients(of port: UInt16) -> ClientSockets {
        let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), 4)
        var sockets = ClientSockets()
        guard descriptor >= 0 else { return sockets }
        defer { close(descriptor) }
        for family in [UInt8(AF_INET), UInt8(AF_INET6)] {
            // nlmsghdr: SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP; inet_diag_req_v2: TCP, INET_DIAG_TOS and
            // INET_DIAG_TCLASS, connections that are established.
            var request: [UInt8] = [72, 0, 0, 0, 20, 0, 1, 3] + [UInt8](repeating: 0, count: 8)
            request += [family, 6, 1 << 4 | 1 << 5, 0, 2, 0, 0, 0] + [UInt8](repeating: 0, count: 48)
            guard send(descriptor, request, request.count, 0) == request.count else { return sockets }
            var isDone = false
            while !isDone {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                isDone = read(buffer[..<count], port, family, &sockets)
            }
        }
        return sockets
    }

    /// Whether this process has a socket that is connected to a port.
    package static func isConnectedTo(_ port: UInt16) -> Bool {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.compactMap { Int32($0) }.contains { descriptor in
            var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            let code = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            return code == 0 && address.sin_family != sa_family_t(AF_UNIX)
                && UInt16(bigEndian: address.sin_port) == port
        }
    }

    /// Whether the list has come to its end.
    private static func read(
        _ bytes: ArraySlice<UInt8>, _ port: UInt16, _ family: UInt8, _ sockets: inout ClientSockets
    ) -> Bool {
        var rest = bytes
        while rest.count >= 16 {
            let start = rest.startIndex
            let length = rest[start..<start + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
            guard rest[start + 4] == 20, length >= 88, length <= rest.count else { return true }
            let remote = UInt16(rest[start + 22]) << 8 | UInt16(rest[start + 23])
            if remote == port {
                readMark(rest[(start + 88)..<(start + length)], family, &sockets.marks)
                if family == UInt8(AF_INET) {
                    sockets.addresses.insert(rest[start + 24..<start + 28].map(String.init).joined(separator: "."))
                }
            }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return false
    }

    private static func readMark(_ attributes: ArraySlice<UInt8>, _ family: UInt8, _ marks: inout Set<UInt8>) {
        // Connections over IPv6 have a traffic class, too.
        let wanted: UInt8 = family == UInt8(AF_INET) ? 5 : 6
        var rest = attributes
        while rest.count >= 5 {
            let start = rest.startIndex
            let length = max(4, Int(rest[start]) | Int(rest[start + 1]) << 8)
            if rest[start + 2] == wanted { marks.insert(rest[start + 4] >> 2) }
            rest = rest.dropFirst((length + 3) & ~3)
        }
    }
}
