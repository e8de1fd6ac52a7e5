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
    private static func metrics(_ url: String, _ service: Service) async throws -> URLSessionTaskTransactionMetrics {
        let session = makeSession { $0.multipathServiceType = service }
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
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(connection) }
        var request = Data()
        while request.range(of: Data("\r\n\r\n".utf8)) == nil {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { throw POSIXError(.ECONNRESET) }
            request += buffer[..<count]
        }
        let response = Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        guard send(connection, response, response.count, Int32(MSG_NOSIGNAL)) == response.count else {
            throw POSIXError(.EPIPE)
        }
    }
}
