import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import MatrixPaths

/// Answers the first two requests one by one, as they come, and the next two when both are there.
final class PipelinePeer: MatrixPeer {
    let openings = Recorder<Int>()
    private let acceptor: ConnectionAcceptor

    init() throws {
        acceptor = try ConnectionAcceptor(.ipv4()) { [openings] socket, number in
            openings.append(number)
            var (unread, answered): ([UInt8], Int) = ([], 0)
            while let bytes = try? socket.read(), !bytes.isEmpty {
                unread += bytes
                let end = Array("\r\n\r\n".utf8)
                let heads = unread.indices.count { unread[$0...].starts(with: end) }
                let count = answered < 2 ? 1 : 2
                guard heads >= count else { continue }
                unread = []
                answered += count
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
                guard (try? socket.write(Array(String(repeating: answer, count: count).utf8))) != nil else { return }
            }
        }
    }

    var port: UInt16 { acceptor.address.port ?? 0 }

    func begin() {}

    func observe(into observation: inout Observation) { observation.connections = openings.count }

    func stop() { acceptor.stop() }
}
