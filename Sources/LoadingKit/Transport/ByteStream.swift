import CLoadingKitShims
import Foundation
import LoadingKitPrimitives

/// Who is told when a stream can be read or written again. Each change is told once.
package protocol ByteStreamHandler: AnyObject {
    func streamIsReadable(_ stream: ByteStream)
    func streamIsWritable(_ stream: ByteStream)
}

/// One connected socket, perhaps with TLS. Confined to its loop.
///
/// Its owner reads until `.wouldBlock`, or stops when it wants; then it calls `read` again later.
package final class ByteStream: LoopChannel {
    package enum ReadResult {
        case bytes(Int)
        case wouldBlock
        /// The other side has ended in order: FIN, or close_notify under TLS.
        case end
        case failed(TransportError)
    }

    package enum WriteResult {
        case bytes(Int)
        case wouldBlock
        case failed(TransportError)
    }

    package let loop: EventLoop
    package internal(set) var info: ConnectionInfo
    /// Held until `close()`.
    package var handler: (any ByteStreamHandler)?
    private let socket: StreamSocket
    private let tls: TLSSession?

    init(_ socket: StreamSocket, tls: TLSSession?, _ info: ConnectionInfo, _ loop: EventLoop) {
        self.socket = socket
        self.tls = tls
        self.info = info
        self.loop = loop
        loop.replace(self, socket.descriptor)
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
        guard !socket.isClosed, !buffer.isEmpty else { return .wouldBlock }
        if let tls { return tls.read(into: buffer).mapError { error(.read, $0) } }
        let count = socket.receive(buffer)
        switch count {
        case 1...: return .bytes(count)
        case 0: return .end
        case Int(-EAGAIN): return .wouldBlock
        default: return .failed(error(.read, .systemCall("recv", code: Int32(-count))))
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        guard !socket.isClosed, !bytes.isEmpty else { return .bytes(0) }
        if let tls { return tls.write(bytes).mapError { error(.write, $0) } }
        return result(socket.send(bytes))
    }

    /// Two pieces: by one system call, or, where they are small, in one TLS record.
    package func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> WriteResult {
        guard !socket.isClosed else { return .bytes(0) }
        guard tls == nil else { return writeRecord(first, second) }
        return result(socket.send(first, second))
    }

    private func writeRecord(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> WriteResult {
        let largest = 16 * 1024
        guard first.count < largest else { return write(first) }
        let rest = UnsafeRawBufferPointer(rebasing: second.prefix(largest - first.count))
        return withUnsafeTemporaryAllocation(byteCount: largest, alignment: 1) { record in
            record.copyMemory(from: first)
            UnsafeMutableRawBufferPointer(rebasing: record[first.count...]).copyMemory(from: rest)
            return write(UnsafeRawBufferPointer(rebasing: record[..<(first.count + rest.count)]))
        }
    }

    private func result(_ count: Int) -> WriteResult {
        if count >= 0 { return .bytes(count) }
        if count == Int(-EAGAIN) { return .wouldBlock }
        return .failed(error(.write, .systemCall("send", code: Int32(-count))))
    }

    /// Says that no more will be sent; receiving goes on.
    package func finishWriting() {
        guard !socket.isClosed else { return }
        tls?.sendCloseNotify()
        socket.shutdownWriting()
    }

    /// Ends the connection. The handler hears nothing more.
    package func close() {
        handler = nil
        guard !socket.isClosed else { return }
        tls?.sendCloseNotify()
        tls?.free()
        socket.close()
    }

    /// Whether a connection that nothing is expected on has ended, or received something. Does not block.
    package var isDead: Bool {
        guard !socket.isClosed else { return true }
        return socket.hasEndedOrBytes
    }

    func isReady(_ events: UInt32) {
        let canWrite = socket.note(events)
        if socket.isReadable { handler?.streamIsReadable(self) }
        if canWrite { handler?.streamIsWritable(self) }
    }

    private func error(_ phase: TransportError.Phase, _ cause: TransportError.Cause) -> TransportError {
        TransportError(phase: phase, endpoint: remote, cause: cause)
    }

    private var remote: String {
        let address = info.remoteAddress ?? "unknown"
        return info.remotePort.map { "\(address) port \($0)" } ?? address
    }
}

extension TLSSession.Result {
    fileprivate func mapError(_ error: (TransportError.Cause) -> TransportError) -> ByteStream.ReadResult {
        switch self {
        case .bytes(let count): .bytes(count)
        case .wouldBlock: .wouldBlock
        case .end: .end
        case .failed(let cause): .failed(error(cause))
        }
    }

    fileprivate func mapError(_ error: (TransportError.Cause) -> TransportError) -> ByteStream.WriteResult {
        switch self {
        case .bytes(let count): .bytes(count)
        case .wouldBlock: .wouldBlock
        case .end: .failed(error(.systemCall("send", code: EPIPE)))
        case .failed(let cause): .failed(error(cause))
        }
    }
}
