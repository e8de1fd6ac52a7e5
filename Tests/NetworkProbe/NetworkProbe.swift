import CTestNetworks
import Foundation
import Glibc
import LoadingKit

/// Loads from a server of its own, in a network namespace of its own, whose only interface is down at first. Prints what
/// happens, a line each; run by tests.
///
///     unshare --user --map-root-user --net NetworkProbe waits|fails|cellular|restricted
@main enum NetworkProbe {
    static func main() async {
        let mode = CommandLine.arguments.dropFirst().first ?? ""
        let isCellular = mode == "cellular" || mode == "restricted"
        if isCellular { check(lk_test_rename("lo", "wwan0"), "rename") }
        guard let port = startServer() else { return print("no server") }
        if isCellular { check(lk_test_bring_up("wwan0"), "bring up") }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.waitsForConnectivity = mode == "waits"
        configuration.allowsCellularAccess = mode != "restricted"
        // Less than what is waited for: it does not run while the task waits.
        configuration.timeoutIntervalForRequest = 30
        let session = URLSession(configuration: configuration)
        guard let url = URL(string: "http://127.0.0.1:\(port)/") else { return }
        do {
            let (data, _) = try await session.data(from: url, delegate: Delegate())
            print("loaded \(String(decoding: data, as: UTF8.self))")
        } catch let error as URLError {
            let reason = error.userInfo["NSURLErrorNetworkUnavailableReasonKey"] as? Int
            print("failed \(error.code.rawValue)\(reason.map { " reason \($0)" } ?? "")")
        } catch {
            print("failed \(error)")
        }
    }

    static func check(_ code: Int32, _ what: String) {
        if code != 0 { print("\(what): \(String(cString: strerror(code)))") }
    }

    /// Listens on any address, as the loopback has none yet; the namespace has no other.
    private static func startServer() -> UInt16? {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0, listen(listener, 8) == 0 else { return nil }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        guard result == 0 else { return nil }
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { continue }
                var bytes = [UInt8](repeating: 0, count: 4096)
                _ = recv(connection, &bytes, bytes.count, 0)
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
                _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
                close(connection)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private final class Delegate: NSObject, URLSessionTaskDelegate {
        func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
            print("waiting")
            NetworkProbe.check(lk_test_bring_up("lo"), "bring up")
        }
    }
}
