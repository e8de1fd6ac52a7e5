import Foundation
import LoadingKitLoopbackServer

/// A server whose answers are not as they must be, in a way that the resource's number chooses.
enum Hostility: UInt64, CaseIterable, Sendable {
    /// After its end a body is followed by what looks like the answer to the next request.
    case surplus
    /// The body ends before its length, or amid a chunk.
    case short, shortChunk
    case noHead, garbage, twoLengths, badChunk, control, hugeHead, endlessInterim
    /// Says that the body is compressed, and it is not.
    case falseCoding
    /// Byte by byte, and with a pause amid the head: slow, and good.
    case slowHead
    /// Interim answers before the good one.
    case interim
    /// Good, and closes without a word.
    case silentClose
    /// Never answers.
    case silence
    /// Answers before it has read the request, and closes.
    case hasty

    init(_ number: UInt64) { self = Self.allCases[Int(number % UInt64(Self.allCases.count))] }

    init(_ resource: Resource) { self.init(resource.number) }

    /// What `surplus` sends behind a body.
    static let behind = Resource(.plain, client: 99, number: 1, length: 4)

    /// Whether a load may succeed; it may fail in any case, as the server may be reached by a bad network.
    var mayBeGood: Bool {
        switch self {
        case .surplus, .slowHead, .interim, .silentClose, .hasty, .endlessInterim: true
        case .short, .shortChunk, .noHead, .garbage, .twoLengths, .badChunk, .control, .hugeHead, .falseCoding,
            .silence:
            false
        }
    }

    /// Whether a load must succeed that nothing disturbs.
    var isGood: Bool {
        switch self {
        case .slowHead, .interim: true
        default: false
        }
    }

    /// What is sent for a request, and whether the connection goes on.
    func answer(_ resource: Resource, _ socket: StreamSocket) throws -> Bool {
        let body = resource.body()
        let name = "X-Resource: \(resource.path)\r\n"
        let head = "HTTP/1.1 200 OK\r\n\(name)"
        let good = Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
        switch self {
        case .surplus:
            let evil = "HTTP/1.1 200 OK\r\nX-Resource: \(Self.behind.path)\r\nContent-Length: 4\r\n\r\nevil"
            try socket.write(good + Array(evil.utf8))
        case .short:
            try socket.write(Array("\(head)Content-Length: \(body.count + 10)\r\n\r\n".utf8) + body)
            return false
        case .shortChunk:
            try socket.write(Array("\(head)Transfer-Encoding: chunked\r\n\r\nfff\r\nabc".utf8))
            return false
        case .noHead: return false
        case .garbage: try socket.write(Array("\u{1}\u{2}garbage\r\n\r\n".utf8))
        case .twoLengths: try socket.write(Array("\(head)Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd".utf8))
        case .badChunk: try socket.write(Array("\(head)Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n".utf8))
        case .control: try socket.write(Array("\(head)X: a\u{0}b\r\nContent-Length: 0\r\n\r\n".utf8))
        case .hugeHead:
            try socket.write(
                Array("\(head)X: \(String(repeating: "x", count: 300_000))\r\nContent-Length: 0\r\n\r\n".utf8))
        case .endlessInterim:
            for _ in 0..<64 { try socket.write(Array("HTTP/1.1 103 Early Hints\r\n\r\n".utf8)) }
            try socket.write(good)
        case .falseCoding:
            try socket.write(
                Array("\(head)Content-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
        case .slowHead:
            for byte in good.prefix(40) { try socket.write([byte]) }
            usleep(2_000_000)
            try socket.write(Array(good.dropFirst(40)))
        case .interim:
            try socket.write(
                Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n".utf8) + good)
        case .silentClose:
            try socket.write(good)
            return false
        case .silence: try socket.waitUntilPeerCloses()
        case .hasty:
            try socket.write(
                Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\(name)Content-Length: \(body.count)\r\n\r\n".utf8)
                    + body)
            return false
        }
        return true
    }
}

/// Listens, and answers as ``Hostility`` says.
final class HostileServer: Sendable {
    let acceptor: ConnectionAcceptor

    init() throws {
        acceptor = try ConnectionAcceptor(.ipv4()) { socket, _ in try? Self.serve(socket) }
    }

    func stop() { acceptor.stop() }

    private static func serve(_ socket: StreamSocket) throws {
        var input: [UInt8] = []
        while true {
            while let end = input.firstRange(of: Array("\r\n\r\n".utf8)) {
                let head = String(decoding: input[..<end.lowerBound], as: UTF8.self)
                input.removeSubrange(..<end.upperBound)
                let target = head.split(separator: " ").dropFirst().first ?? ""
                guard let resource = Resource(path: target), try Hostility(resource).answer(resource, socket) else {
                    return
                }
            }
            let more = try socket.read()
            if more.isEmpty { return }
            input += more
        }
    }
}
