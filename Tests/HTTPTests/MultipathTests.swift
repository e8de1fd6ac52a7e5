import Foundation
import Glibc
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Connections over Multipath TCP (RFC 8684).
@Suite struct MultipathTests {
    private typealias Service = URLSessionConfiguration.MultipathServiceType

    /// The metrics of one request.
    private static func metrics(
        _ url: String, _ service: Service, _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) async throws -> URLSessionTaskTransactionMetrics {
        let session = makeSession {
            $0.multipathServiceType = service
            configure($0)
        }
        defer { session.invalidateAndCancel() }
        let recorder = TransferRecorder()
        let request = URLRequest(url: try #require(URL(string: url)))
        let (body, _) = try await session.data(for: request, delegate: recorder)
        #expect(body == Data("hello".utf8))
        return try #require(await recorder.metrics.element(at: 0)?.transactionMetrics.last)
    }

    /// Where the system has no Multipath TCP, the server speaks TCP, and so do the connections to it.
    @Test(arguments: [Service.none, .handover, .interactive, .aggregate])
    func aServerThatSpeaksIt(_ service: URLSessionConfiguration.MultipathServiceType) async throws {
        let server = try MultipathServer()
        try await withTimeout {
            async let served: Void = onThread { try server.serve("hello") }
            let metrics = try await Self.metrics("http://127.0.0.1:\(server.port)/", service)
            try await served
            #expect(metrics.isMultipath == (server.isMultipath && service != .none))
            #expect(metrics.remotePort == "\(server.port)" && metrics.localAddress == "127.0.0.1")
        }
    }

    /// TLS that begins in a proxy's tunnel does not change what the connection is.
    @Test func aProxyThatSpeaksIt() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: authority.issue()) { _ in .text("hello") }
        defer { server.stop() }
        let proxy = try MultipathServer()
        let (target, pem) = (try #require(server.address.port), authority.certificatePEM)
        try await withTimeout {
            async let relayed: Void = onThread { try proxy.relay(to: target) }
            let metrics = try await Self.metrics(server.url("/", host: "localhost"), .handover) {
                $0.connectionProxyDictionary = [
                    "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
                ]
                $0.tlsTrustRoots = .pem(pem)
            }
            try await relayed
            #expect(metrics.isProxyConnection && metrics.secureConnectionEndDate != nil)
            #expect(metrics.isMultipath == proxy.isMultipath)
        }
    }

    @Test func aServerThatDoesNot() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        try await withTimeout {
            let metrics = try await Self.metrics(server.url("/"), .handover)
            #expect(!metrics.isMultipath && metrics.connectEndDate != nil)
        }
    }
}

/// A server that answers over Multipath TCP, where the system has that.
private final class MultipathServer: Sendable {
    let port: UInt16
    let isMultipath: Bool
    private let descriptor: Int32

    init() throws {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let multipath = socket(AF_INET, type, 262)
        isMultipath = multipath >= 0
        descriptor = isMultipath ? multipath : socket(AF_INET, type, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listening = descriptor
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listening, $0, length) == 0 && listen(listening, 8) == 0
                    && getsockname(listening, $0, &length) == 0
                    ? 0 : errno
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard code == 0 else {
            close(descriptor)
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
    }

    deinit { close(descriptor) }

    /// Answers one request. Blocks.
    func serve(_ body: String) throws {
        let connection = try acceptOne()
        defer { close(connection) }
        try Self.answer(connection, "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Opens one tunnel to a port, and passes bytes on until a side ends. Blocks.
    func relay(to port: UInt16) throws {
        let connection = try acceptOne()
        defer { close(connection) }
        try Self.answer(connection, "\r\n")
        let server = try StreamSocket(connectingTo: .ipv4(port: port))
        let upwards = try WorkerThread {
            while let bytes = Self.receive(connection) { try? server.write(bytes) }
            server.interrupt()
        }
        while let bytes = try? server.read(), !bytes.isEmpty { Self.send(bytes, to: connection) }
        shutdown(connection, Int32(SHUT_RDWR))
        upwards.join()
    }

    private func acceptOne() throws -> Int32 {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return connection
    }

    /// Nil at the end.
    private static func receive(_ connection: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    @discardableResult
    private static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
        Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    private static func answer(_ connection: Int32, _ rest: String) throws {
        var request = Data()
        while request.range(of: Data("\r\n\r\n".utf8)) == nil {
            guard let bytes = receive(connection) else { throw POSIXError(.ECONNRESET) }
            request += bytes
        }
        guard send(Array("HTTP/1.1 200 OK\r\n\(rest)".utf8), to: connection) else { throw POSIXError(.EPIPE) }
    }
}
