import CTestNetworks
import Foundation
import Glibc
import LoadingKit

/// Loads from names that must be validated by DNSSEC, with a name server of its own at 127.0.0.1, to which the test's
/// `resolv.conf` points.
enum NameProbe {
    private static let names = [
        "signed.example", "SIGNED.example.", "alias.example", "unsigned.example", "bogus.example", "missing.example",
        "broken.example", "many.example", "127.0.0.1", "localhost",
    ]

    static func run(_ port: UInt16) async {
        NetworkProbe.check(lk_test_bring_up("lo"), "bring up")
        guard startNameServer() else { return print("no name server") }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.appTransportSecurity.allowsArbitraryLoads = true
        configuration.requiresDNSSECValidation = true
        let session = URLSession(configuration: configuration)
        for name in names { await load(name, port, session) }
        for name in ["signed.example", "unsigned.example"] { await stream(name, port, session) }
        // A proxy would look the name up.
        configuration.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(port)]
        await load("signed.example", port, URLSession(configuration: configuration))
    }

    private static func load(_ name: String, _ port: UInt16, _ session: URLSession) async {
        guard let url = URL(string: "http://\(name):\(port)/") else { return print("no URL") }
        do {
            let (data, _) = try await session.data(from: url)
            print("\(name) loaded \(String(decoding: data, as: UTF8.self))")
        } catch let error as URLError {
            let text = error.localizedDescription
            let hint = ["trust-ad", "not validated its answer", "by a proxy"].first { text.contains($0) }
            print("\(name) failed \(error.code.rawValue)\(hint.map { " \($0)" } ?? "")")
        } catch {
            print("\(name) failed \(error)")
        }
    }

    private static func stream(_ name: String, _ port: UInt16, _ session: URLSession) async {
        let task = session.streamTask(withHostName: name, port: Int(port))
        task.resume()
        do {
            try await task.write(Data("GET / HTTP/1.1\r\n\r\n".utf8), timeout: 0)
            print("stream to \(name) is open")
        } catch let error as URLError {
            print("stream to \(name) failed \(error.code.rawValue)")
        } catch {
            print("stream to \(name) failed \(error)")
        }
        task.cancel()
    }

    private static func startNameServer() -> Bool {
        let server = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(53).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0 else { return false }
        Thread.detachNewThread { while true { answerOne(server) } }
        return true
    }

    private static func answerOne(_ server: Int32) {
        var query = [UInt8](repeating: 0, count: 512)
        var client = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &client) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { client in
                let count = recvfrom(server, &query, query.count, 0, client, &length)
                guard count > 12, let answer = answer(to: Array(query.prefix(count))) else { return }
                sendto(server, answer, answer.count, 0, client, length)
            }
        }
    }

    /// An answer to a question of one name (RFC 1035 §4).
    private static func answer(to query: [UInt8]) -> [UInt8]? {
        guard let end = query[12...].firstIndex(of: 0), end + 5 <= query.count else { return nil }
        let label = String(decoding: query[13..<min(13 + Int(query[12]), end)], as: UTF8.self).lowercased()
        let isIPv4 = query[end + 2] == 1
        let question = Array(query[12..<(end + 5)])
        // To the name at octet 12; type, class IN, a time to live, and the length of the data.
        func record(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
            [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] + data
        }
        let loopback = record(1, [127, 0, 0, 1])
        var (records, isValid, code): ([[UInt8]], Bool, UInt8) = (isIPv4 ? [loopback] : [], true, 0)
        switch label {
        case "alias":
            records = [record(5, [6] + Array("signed".utf8) + [0xc0, UInt8(12 + 1 + label.utf8.count)])] + records
        case "unsigned": isValid = false
        case "bogus": (records, code) = ([], 2)
        case "missing": (records, code) = ([], 3)
        case "many": records = isIPv4 ? Array(repeating: loopback, count: 20) : []
        case "broken": records = isIPv4 ? [Array(loopback.dropLast(6))] : []
        case _: break
        }
        let header: [UInt8] = [
            query[0], query[1], 0x81, 0x80 | (isValid ? 0x20 : 0) | code, 0, 1, 0, UInt8(records.count), 0, 0, 0, 0,
        ]
        return header + question + records.joined()
    }
}
