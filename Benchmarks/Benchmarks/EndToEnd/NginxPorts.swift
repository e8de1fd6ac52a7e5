import Foundation

/// Where nginx listens: one port for each kind of connection.
struct NginxPorts {
    let http: UInt16
    /// HTTP/1.1 over TLS.
    let https: UInt16
    let http2: UInt16
    /// TLS, and each connection closes after one response: handshakes are full, or can be resumed.
    let full: UInt16
    let resumed: UInt16

    /// Ports that are free now.
    init() throws {
        let sockets = (0..<5).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        defer { sockets.forEach { close($0) } }
        let numbers = try sockets.map(Self.bind)
        (http, https, http2, full, resumed) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
    }

    /// Whether something listens.
    var answers: Bool {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        return Self.withLoopback(port: http) { connect(socket, $0, $1) } == 0
    }

    private static func bind(_ socket: Int32) throws -> UInt16 {
        guard withLoopback(port: 0, { Glibc.bind(socket, $0, $1) }) == 0 else { throw Failure("no free port") }
        var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        withUnsafeMutablePointer(to: &address) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func withLoopback(
        port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
