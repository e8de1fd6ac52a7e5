import CTestNetworks
import Foundation
import Glibc
import LoadingKitLoopbackServer

/// The host of the servers: a network namespace that only the threads started here are in.
final class ServerHost: Sendable {
    static let address = "10.9.0.2"
    /// The size of the file, in bytes.
    static let fileSize = 1_000_000
    static let file = (0..<fileSize).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ ($0 >> 8)) }

    /// The descriptor of the host's TUN device.
    let device: Int32
    /// The server's URL; its paths are `/file`, and `/connection` for the connection's number.
    let url: URL
    let certificate: String
    private let server: LoopbackServer?

    init(_ version: String) throws {
        let authority = try CertificateAuthority()
        certificate = authority.certificatePEM
        server = version == "ftp" ? nil : try Self.server(version, authority)
        let server = server
        (device, url) = try Self.onHost {
            let device = lk_test_open_tun("wire")
            guard device >= 0 else { throw POSIXError(.init(rawValue: -device) ?? .EIO) }
            NetworkProbe.check(lk_test_bring_up("lo"), "bring up")
            NetworkProbe.check(lk_test_set_wire_address("wire", NetworkProbe.address(10, 9, 0, 2)), "set address")
            NetworkProbe.check(lk_test_bring_up("wire"), "bring up")
            // A machine may be without IPv6.
            _ = lk_test_add_ipv6("wire", "fd09::2")
            guard let (listener, port) = NetworkProbe.listen(family: AF_INET6) ?? NetworkProbe.listen() else {
                throw POSIXError(.EADDRNOTAVAIL)
            }
            if let server, case .unix(let path) = server.address {
                Relay.start(listener, path)
            } else {
                FTPHost.start(listener)
            }
            let scheme = version == "ftp" ? "ftp" : server?.usesTLS == true ? "https" : "http"
            return (device, URL(string: "\(scheme)://\(Self.address):\(port)/") ?? URL(fileURLWithPath: "/"))
        }
    }

    private static func server(_ version: String, _ authority: CertificateAuthority) throws -> LoopbackServer {
        let path = NSTemporaryDirectory() + "/lk-\(getpid()).socket"
        var options = LoopbackServer.Options(.unix(path: path))
        if version != "http" {
            let template = CertificateTemplate(dnsNames: ["both.example"], ipAddresses: [address])
            let protocols = version == "h2" ? ["h2"] : ["http/1.1"]
            options.tls = TLSServerOptions(try authority.issue(template), applicationProtocols: protocols)
        }
        return try LoopbackServer(options) { request in
            request.path == "/file" ? part(request) : .text("\(request.connection)")
        }
    }

    /// The file, or its rest.
    private static func part(_ request: ServerRequest) -> ServerResponse {
        let start = request.fields[.range].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        var response = ServerResponse.bytes(Array(file.dropFirst(start ?? 0)), status: start == nil ? 200 : 206)
        response.fields.set(.etag, "\"file\"")
        if let start { response.fields.set(.contentRange, "bytes \(start)-\(fileSize - 1)/\(fileSize)") }
        return response
    }

    /// Runs `work` on a thread of the host.
    private static func onHost<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) throws -> Value {
        let results = Results<Value>()
        Thread.detachNewThread {
            results.put(
                Result {
                    guard lk_test_leave_network() == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EPERM) }
                    return try work()
                })
        }
        return try results.take().get()
    }
}

/// A result from another thread.
private final class Results<Value: Sendable>: @unchecked Sendable {  // the semaphore orders the accesses
    private let semaphore = DispatchSemaphore(value: 0)
    private var result: Result<Value, any Error>?

    func put(_ result: Result<Value, any Error>) {
        self.result = result
        semaphore.signal()
    }

    func take() -> Result<Value, any Error> {
        semaphore.wait()
        return result ?? .failure(CancellationError())
    }
}

/// Passes bytes on between connections to a host and the loopback server, which listens at a path.
private enum Relay {
    static func start(_ listener: Int32, _ path: String) {
        Thread.detachNewThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { continue }
                let server = connect(to: path)
                pass(from: client, to: server)
                pass(from: server, to: client)
            }
        }
    }

    private static func connect(to path: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return descriptor
    }

    private static func pass(from source: Int32, to target: Int32) {
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = recv(source, &bytes, bytes.count, 0)
                guard count > 0, NetworkProbe.sendAll(target, bytes[..<count]) else { break }
            }
            shutdown(target, Int32(SHUT_WR))
        }
    }
}
