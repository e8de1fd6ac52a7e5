import CTestNetworks
import Foundation
import Glibc
import LoadingKit

/// Loads from an address that is this machine's own, goes, and comes back. Its server keeps connections, and answers with
/// the number of the connection.
enum RoamingProbe {
    private static let interface = "lo:1"

    static func run() async {
        NetworkProbe.check(lk_test_bring_up("lo"), "bring up")
        setAddress()
        guard let port = startServer(), let url = URL(string: "http://10.9.8.7:\(port)/") else {
            return print("no server")
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration)
        for _ in 0..<2 { await load(url, session) }
        NetworkProbe.check(lk_test_bring_down(interface), "bring down")
        while await isConnected(session) { await Task.yield() }
        print("closed")
        setAddress()
        await load(url, session)
    }

    private static func isConnected(_ session: URLSession) async -> Bool {
        await session.statistics.connections.open.values.contains { $0.active + $0.idle > 0 }
    }

    private static func setAddress() {
        NetworkProbe.check(lk_test_set_address(interface, UInt32(0x0A09_0807).bigEndian), "set address")
    }

    private static func load(_ url: URL, _ session: URLSession) async {
        do {
            let (data, _) = try await session.data(from: url)
            print("loaded \(String(decoding: data, as: UTF8.self))")
        } catch {
            print("failed \(error)")
        }
    }

    private static func startServer() -> UInt16? {
        guard let (listener, port) = NetworkProbe.listen() else { return nil }
        Thread.detachNewThread {
            var count = 0
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { continue }
                count += 1
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(count)"
                Thread.detachNewThread { serve(connection, answer) }
            }
        }
        return port
    }

    /// Each read has one request, as it fits into a packet.
    private static func serve(_ connection: Int32, _ answer: String) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while recv(connection, &bytes, bytes.count, 0) > 0 {
            _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
        }
        close(connection)
    }
}
