import Foundation
import Glibc
import LoadingKit

/// Sessions of one process, and what a session has for each origin.
enum SessionRows {
    static var all: [String: GrowthProbe.Row] {
        [
            "sessions": { sessions($0) },
            "origins": { try origins($0) },
            "origins-refused": { refused($0) },
            "request-fields": { fields($0) },
            "credentials": { credentials($0) },
        ]
    }

    /// All are there at a time, each with a task that has ended.
    private static func sessions(_ count: Int) {
        let sessions = (0..<count).map { _ in ProbeSession.make() }
        for (session, probe) in sessions {
            probe.task(Stub.answer.request, in: session).resume()
            probe.waitForEnds()
        }
        for (session, probe) in sessions {
            session.invalidateAndCancel()
            probe.waitForInvalidation()
        }
    }

    /// One request's fields, set and read as a whole.
    private static func fields(_ count: Int) {
        var request = Stub.answer.request
        request.allHTTPHeaderFields = Dictionary(uniqueKeysWithValues: (0..<count).map { ("X-Field-\($0)", "\($0)") })
        precondition(request.allHTTPHeaderFields?.count == count)
    }

    /// One for each server, in one storage.
    private static func credentials(_ count: Int) {
        let storage = URLCredentialStorage()
        for number in 0..<count {
            let space = URLProtectionSpace(
                host: "\(number).example", port: 443, protocol: NSURLProtectionSpaceHTTPS, realm: nil,
                authenticationMethod: nil)
            storage.set(URLCredential(user: "user", password: "password", persistence: .forSession), for: space)
        }
        precondition(storage.allCredentials.count == count)
    }

    /// A connection to each is kept, until the session ends.
    private static func origins(_ count: Int) throws {
        let port = try AnsweringServer.start()
        let (session, probe) = ProbeSession.make()
        for number in 0..<count {
            probe.task(request(number, port), in: session).resume()
            probe.waitForEnds()
        }
        session.invalidateAndCancel()
        probe.waitForInvalidation()
    }

    /// All are connected to at a time.
    private static func refused(_ count: Int) {
        let (session, probe) = ProbeSession.make()
        for number in 0..<count { probe.task(request(number, 1), in: session).resume() }
        probe.waitForEnds()
    }

    /// All of 127.0.0.0/8 is this host.
    private static func request(_ number: Int, _ port: UInt16) -> URLRequest {
        let url = URL(string: "http://127.1.\(number / 250).\(number % 250 + 1):\(port)/")
        return URLRequest(url: url ?? URL(fileURLWithPath: "/"))
    }
}

/// Answers requests of each connection, one connection after the other, on all addresses of this host. Keeps them open.
enum AnsweringServer {
    /// - Parameter count: How many requests of a connection are answered.
    static func start(answers count: Int = 1) throws -> UInt16 {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                listen(listener, 128) == 0 ? getsockname(listener, address, &length) : -1
            }
        }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL) }
        Thread.detachNewThread { serve(listener, count) }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func serve(_ listener: Int32, _ count: Int) {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            var left = count
            while left > 0, recv(connection, &bytes, bytes.count, 0) > 0 {
                _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
                left -= 1
            }
        }
    }
}
