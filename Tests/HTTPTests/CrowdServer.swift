import Glibc
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport

/// One thread that accepts many connections, and answers all of them once each has sent its request: a thread for each
/// of a thousand would starve the tests beside it.
final class CrowdServer: Sendable {
    private let listener: ListeningSocket
    private let thread: WorkerThread

    var url: String { "http://\(listener.address.host):\(listener.address.port ?? 0)/" }

    /// - Parameter count: how many connections it waits for, before it answers and ends.
    init(answeringOnce count: Int, with body: String) throws {
        let listener = try ListeningSocket(.ipv4())
        let response = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        self.listener = listener
        thread = try WorkerThread {
            var connections: [StreamSocket] = []
            while connections.count < count {
                guard let connection = try? listener.accept() else { return }
                connections.append(connection)
            }
            for connection in connections {
                var request: [UInt8] = []
                while !request.reversed().starts(with: "\n\r\n\r".utf8) {
                    guard let more = try? connection.read(), !more.isEmpty else { return }
                    request += more
                }
            }
            for connection in connections { try? connection.write(Array(response.utf8)) }
            // Until the clients have ended them, so that none is cut off.
            for connection in connections { _ = try? connection.read() }
        }
    }

    /// Waits for the thread. Clients must have ended their connections, or never come.
    func stop() {
        listener.shutDown()
        thread.join()
    }
}
