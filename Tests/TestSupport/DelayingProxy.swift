import Dispatch
import Glibc
import LoadingKitLoopbackServer

/// Passes bytes on between a client and a server, each after a delay, as a long way would: the kernel's loopback has no
/// delay of its own. As many are on their way as TCP's largest window is by default.
package final class DelayingProxy: Sendable {
    package let address: LoopbackAddress
    private let acceptor: ConnectionAcceptor
    private let most: Box<Int>

    /// - Parameters:
    ///   - server: where the connections go on to.
    ///   - milliseconds: how long each byte is on its way, in either direction.
    package init(to server: LoopbackAddress, milliseconds: Int) throws {
        let stopping = Signal()
        let most = Box(0)
        self.most = most
        acceptor = try ConnectionAcceptor(.ipv4(), stopping: stopping) { client, _ in
            guard let server = try? StreamSocket(connectingTo: server) else { return }
            let (there, back) = (DelayLine(milliseconds), DelayLine(milliseconds))
            let workers = [
                try? WorkerThread { there.fill(from: client) }, try? WorkerThread { there.drain(to: server) },
                try? WorkerThread { back.fill(from: server) },
            ]
            back.drain(to: client)
            // Either end's end is the other's.
            server.interrupt()
            client.interrupt()
            for worker in workers { worker?.join() }
            server.close()
            most.update { $0 = max($0, back.most.value) }
        }
        address = acceptor.address
    }

    package func stop() { acceptor.stop() }

    /// The most bytes that were on their way at once from the server to one client, of those connections that have ended.
    package var mostToClient: Int { most.value }
}

/// One direction of a connection.
private final class DelayLine: Sendable {
    private struct Piece {
        var bytes: [UInt8]
        var due: DispatchTime
    }

    private static let window = 4 << 20

    private let delay: DispatchTimeInterval
    /// Bytes that may be put on their way.
    private let room = Box(window)
    private let hasRoom = DispatchSemaphore(value: 0)
    /// The most bytes that were on their way at once.
    let most = Box(0)
    private let pieces = Box<[Piece]>([])
    private let available = DispatchSemaphore(value: 0)

    init(_ milliseconds: Int) { delay = .milliseconds(milliseconds) }

    /// Until the connection ends, which is passed on as a piece without bytes.
    func fill(from socket: StreamSocket) {
        var buffer = [UInt8](repeating: 0, count: 262_144)
        while true {
            while room.value <= 0 { hasRoom.wait() }
            let count = (try? buffer.withUnsafeMutableBytes { try socket.read(into: $0) }) ?? 0
            let bytes = Array(buffer[..<count])
            let onTheWay = room.update { room in
                room -= count
                return Self.window - room
            }
            most.update { $0 = max($0, onTheWay) }
            pieces.update { $0.append(Piece(bytes: bytes, due: .now() + delay)) }
            available.signal()
            if bytes.isEmpty { return }
        }
    }

    func drain(to socket: StreamSocket) {
        while true {
            available.wait()
            // All that is there, in one go: a list is shifted once for many pieces.
            let ready = pieces.update { pieces in
                defer { pieces = [] }
                return pieces
            }
            for piece in ready {
                let now = DispatchTime.now().uptimeNanoseconds
                if piece.due.uptimeNanoseconds > now { usleep(UInt32((piece.due.uptimeNanoseconds - now) / 1000)) }
                room.update { $0 += piece.bytes.count }
                hasRoom.signal()
                guard !piece.bytes.isEmpty, (try? socket.write(piece.bytes)) != nil else { return end(socket) }
            }
        }
    }

    /// Reads and drops bytes that still arrive.
    private func end(_ socket: StreamSocket) {
        socket.halfClose()
        room.value = .max / 2
        hasRoom.signal()
    }
}
