import Glibc
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport

struct PeerError: Error {
    var call: String
    var code = errno
}

/// A blocking server on a thread: each connection runs the script, one after the other.
final class Peer: @unchecked Sendable {  // immutable but for `failures`, which has a lock
    enum Address {
        case v4, v6
        case unix(String)
    }

    let endpoint: Endpoint
    let port: UInt16
    private let listener: Int32
    private let reserved: ReservedPort?
    private let done = Semaphore()
    private let failureList = Guarded<[String]>([])

    /// What scripts threw.
    var failures: [String] { failureList.withLock { $0 } }

    init(
        _ address: Address = .v4, backlog: Int32 = 16, _ script: @escaping @Sendable (PeerConnection) throws -> Void
    ) throws {
        (listener, endpoint, reserved) = try Self.listenAlone(address, backlog)
        if case .tcp(_, let port) = endpoint { self.port = port } else { port = 0 }
        Thread.start { [self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { break }
                let connection = PeerConnection(descriptor)
                do { try script(connection) } catch { failureList.withLock { $0.append("\(error)") } }
                connection.close()
            }
            done.signal()
        }
    }

    /// Ends the thread.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        _ = done.wait(seconds: 120)
        close(listener)
        if case .unix(let path) = endpoint { unlink(path) }
    }

    /// Where nobody else is met by the name `localhost`.
    private static func listenAlone(
        _ address: Address, _ backlog: Int32
    ) throws -> (Int32, Endpoint, ReservedPort?) {
        for _ in 0..<100 {
            let (listener, endpoint) = try listen(address, backlog)
            guard case .v4 = address, case .tcp(_, let port) = endpoint else { return (listener, endpoint, nil) }
            if let reserved = try? ReservedPort(port) { return (listener, endpoint, reserved) }
            Glibc.close(listener)
        }
        throw PeerError(call: "bind", code: EADDRINUSE)
    }

    static func listen(_ address: Address, _ backlog: Int32) throws -> (Int32, Endpoint) {
        let family: Int32
        switch address {
        case .v4: family = AF_INET
        case .v6: family = AF_INET6
        case .unix: family = AF_UNIX
        }
        let listener = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw PeerError(call: "socket") }
        let bound: Int32
        switch address {
        case .v4:
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            bound = with(&name) { bind(listener, $0, $1) }
        case .v6:
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_addr = in6addr_loopback
            bound = with(&name) { bind(listener, $0, $1) }
        case .unix(let path):
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
            bound = with(&name) { bind(listener, $0, $1) }
        }
        guard bound == 0, Glibc.listen(listener, backlog) == 0 else { throw PeerError(call: "bind") }
        switch address {
        case .unix(let path): return (listener, .unix(path: path))
        case .v4, .v6:
            var name = sockaddr_in6()
            var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            _ = withUnsafeMutablePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
            }
            let port = UInt16(bigEndian: name.sin6_port)  // at the same place for both families
            return (listener, .tcp(host: family == AF_INET ? "127.0.0.1" : "::1", port: port))
        }
    }

    private static func with<A>(_ name: inout A, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<A>.size)) }
        }
    }
}

/// A connection of a blocking peer. Its reads and writes give up after two minutes.
final class PeerConnection {
    let descriptor: Int32
    private var isOpen = true

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        // Bytes are sent at once, also behind those that the client has not acknowledged.
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    func read(upTo count: Int = 65_536) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let result = recv(descriptor, &buffer, count, 0)
        guard result >= 0 else { throw PeerError(call: "recv") }
        return Array(buffer[..<result])
    }

    /// Blocks until there are bytes, and leaves them unread.
    func waitForBytes() throws {
        var byte: UInt8 = 0
        guard recv(descriptor, &byte, 1, Int32(MSG_PEEK)) == 1 else { throw PeerError(call: "recv") }
    }

    func read(exactly count: Int) throws -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            let part = try read(upTo: count - all.count)
            guard !part.isEmpty else { throw PeerError(call: "recv", code: 0) }
            all += part
        }
        return all
    }

    func readToEnd() throws -> [UInt8] {
        var all: [UInt8] = []
        while case let part = try read(), !part.isEmpty { all += part }
        return all
    }

    func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let result = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard result > 0 else { throw PeerError(call: "send") }
            sent += result
        }
    }

    func write(_ text: String) throws { try write(Array(text.utf8)) }

    func finishWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Makes `close()` reset the connection.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        Glibc.close(descriptor)
    }
}

enum Thread {
    private final class Body {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own. OpenSSL's plain `write` to a closed connection would end the process there.
    static func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Body(body))
        let result = pthread_create(
            &thread, nil,
            { pointer in
                WorkerThread.blockBrokenPipeSignal()
                if let pointer { Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().body() }
                return nil
            }, argument.toOpaque())
        if result == 0 { pthread_detach(thread) } else { argument.release() }
    }
}

/// A path for a socket or file in a folder of its own, which is removed afterwards.
func withTemporaryFolder<R>(_ body: (String) async throws -> R) async throws -> R {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    return try await body(folder.path)
}
