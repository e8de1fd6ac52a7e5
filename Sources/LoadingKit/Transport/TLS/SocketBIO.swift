import CLoadingKitOpenSSL
import Glibc

/// Connects OpenSSL with the socket, or with another TLS connection that carries this one, such as one to a proxy over
/// TLS.
///
/// It makes no calls that would be useless according to epoll's events, never raises SIGPIPE, and uses ``SystemCalls``.
/// It keeps bytes that the socket does not take. A record that OpenSSL has made therefore counts as written, and no
/// caller has to repeat a write with the same bytes. OpenSSL's own BIO has none of these properties, and the same cost.
final class SocketBIO {
    /// The limit of bytes that are kept behind gathered records: a record, and alerts or key updates after it.
    private static let maximumKept = 65_536
    /// The limit of bytes that the peer may send without application data between them, as in a handshake: more than the
    /// longest certificates and lists of authorities that OpenSSL accepts.
    private static let maximumOverhead = 262_144

    private(set) var socket: Socket
    /// The connection that carries this one; `nil` if it uses the socket directly.
    let carrier: TLSSession?
    /// The kept bytes for the socket or the carrier, from `keptStart` on.
    private var kept: [UInt8] = []
    private var keptStart = 0
    /// Whether the records that OpenSSL makes are sent together, by ``endGathering()``. They are in the loop's buffer meanwhile.
    private var isGathering = false
    private var gathered = 0
    /// The largest number of bytes to gather. It doubles when the socket takes all of them; otherwise it becomes the number that the
    /// socket took.
    private var gatheringLimit = 2 * TLSRecord.longest
    /// The failure of the last call, unless it only would have blocked.
    private(set) var failure: TransportError.Cause?
    private(set) var sawEnd = false
    /// The first byte that the peer sent.
    private(set) var firstByte: UInt8?
    /// The number of bytes received since the last application data.
    var overhead = 0
    /// Whether nothing more is read, because the peer sends messages of TLS without end.
    private var isStopped = false

    init(socket: Socket, carrier: TLSSession?) {
        self.socket = socket
        self.carrier = carrier
    }

    /// Continues with a new object for the descriptor.
    func move(to socket: Socket) {
        self.socket = socket
        carrier?.move(to: socket)
    }

    var hasKept: Bool { keptStart < kept.count }

    /// The reason why kept bytes, here or in the carrier, will never be sent.
    var loss: TransportError.Cause? { hasKept && failure != nil ? failure : carrier?.loss }

    /// Whether a read may return bytes.
    var mayHaveInput: Bool { socket.isReadable || carrier?.hasPendingInput == true }

    /// Sends the kept bytes. Returns `false` if some are left.
    func flush() -> Bool {
        if let carrier, !carrier.flush() { return false }
        guard failure == nil else { return false }
        while hasKept {
            let result = kept.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[keptStart...])) }
            guard result > 0 else { return false }
            keptStart += result
        }
        if !kept.isEmpty {
            kept.removeAll(keepingCapacity: false)
            keptStart = 0
        }
        return true
    }

    /// The peer sends messages of TLS without end. OpenSSL would process them as long as they arrive, and keep the loop
    /// from all other work.
    func stopReading() {
        failure = .endlessMessages
        isStopped = true
    }

    /// Returns the number of bytes read, 0 at the end, or a negated `errno`.
    fileprivate func read(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
        if overhead > Self.maximumOverhead { stopReading() }
        guard !isStopped else { return -Int(EIO) }
        let result = receive(buffer, count)
        if result > 0, firstByte == nil { firstByte = buffer.load(as: UInt8.self) }
        if result == 0 { sawEnd = true }
        overhead += max(result, 0)
        return result
    }

    private func receive(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
        guard let carrier else {
            let result = socket.receive(buffer, count)
            return result < 0 ? failed(.recv, result) : result
        }
        switch carrier.read(buffer, count) {
        case .bytes(let count): return count
        case .wouldBlock: return -Int(EAGAIN)
        case .end: return 0
        case .failed(let cause): return failed(cause)
        }
    }

    /// Returns the number of bytes taken, which is all of them unless too many are kept; or a negated `errno`.
    fileprivate func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        if gather(bytes) { return bytes.count }
        if failure != nil { return -Int(EIO) }
        var sent = 0
        if !hasKept {
            let result = send(bytes)
            if result < 0, result != -Int(EAGAIN) { return result }
            sent = max(result, 0)
        }
        let rest = bytes[sent...]
        guard !rest.isEmpty else { return bytes.count }
        let room = socket.loop.gatheringBuffer.count + Self.maximumKept - (kept.count - keptStart)
        guard rest.count <= room else { return sent > 0 ? sent : -Int(EAGAIN) }
        kept.append(contentsOf: rest)
        return bytes.count
    }

    /// Several records follow, which cost less when they are sent together. Nothing else uses the loop's buffer until
    /// ``endGathering()``. A carrier gathers by itself.
    func beginGathering() { isGathering = carrier == nil && !hasKept && socket.isWritable }

    /// Sends the gathered records, and keeps what the socket does not take.
    func endGathering() {
        isGathering = false
        sendGathered()
    }

    /// Returns `false` if the record has to be sent or kept by itself, behind those that were gathered.
    private func gather(_ record: UnsafeRawBufferPointer) -> Bool {
        guard isGathering, failure == nil else { return false }
        if record.count > gatheringLimit - gathered {
            sendGathered()
            isGathering = failure == nil && !hasKept && record.count <= gatheringLimit
            guard isGathering else { return false }
        }
        UnsafeMutableRawBufferPointer(rebasing: socket.loop.gatheringBuffer[gathered...]).copyMemory(from: record)
        gathered += record.count
        return true
    }

    private func sendGathered() {
        let records = UnsafeRawBufferPointer(rebasing: socket.loop.gatheringBuffer[..<gathered])
        gathered = 0
        guard !records.isEmpty else { return }
        let result = send(records)
        guard result >= 0 || result == -Int(EAGAIN) else { return }
        let sent = max(result, 0)
        kept.append(contentsOf: records[sent...])
        gatheringLimit =
            hasKept
            ? max(sent, TLSRecord.longest) : min(2 * gatheringLimit, socket.loop.gatheringBuffer.count)
    }

    /// Returns the number of bytes that the socket or the carrier has taken, or a negated `errno`.
    private func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let carrier else {
            let result = socket.send(bytes)
            return result < 0 ? failed(.send, result) : result
        }
        switch carrier.write(bytes) {
        case .bytes(let count): return count
        case .wouldBlock: return -Int(EAGAIN)
        case .failed(let cause): return failed(cause)
        }
    }

    private func failed(_ name: SystemCalls.Name, _ result: Int) -> Int {
        guard result != -Int(EAGAIN) else { return result }
        failure = .systemCall(name, errno: Int32(truncatingIfNeeded: -result))
        return result
    }

    private func failed(_ cause: TransportError.Cause) -> Int {
        failure = cause
        return -Int(EIO)
    }

    // MARK: OpenSSL's callbacks

    private struct Method: @unchecked Sendable {  // not changed after it was made
        let pointer: OpaquePointer
    }

    private static let method: Method? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "LoadingKit socket") else {
            return nil
        }
        BIO_meth_set_read(method, readForOpenSSL)
        BIO_meth_set_write(method, writeForOpenSSL)
        BIO_meth_set_ctrl(method, controlForOpenSSL)
        return Method(pointer: method)
    }()

    /// A BIO that uses this object. The object must outlive the BIO.
    func makeBIO() -> OpaquePointer? {
        guard let method = Self.method, let bio = BIO_new(method.pointer) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }
}

private func socketBIO(_ bio: OpaquePointer?) -> Unmanaged<SocketBIO>? {
    BIO_get_data(bio).map { Unmanaged.fromOpaque($0) }
}

private func readForOpenSSL(
    _ bio: OpaquePointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ count: Int32
) -> Int32 {
    guard let bio, let buffer, count > 0, let target = socketBIO(bio) else { return 0 }
    lk_BIO_clear_retry_flags(bio)
    let result = target._withUnsafeGuaranteedRef { $0.read(buffer, Int(count)) }
    if result >= 0 { return Int32(truncatingIfNeeded: result) }
    if result == -Int(EAGAIN) { lk_BIO_set_retry_read(bio) }
    return -1
}

private func writeForOpenSSL(_ bio: OpaquePointer?, _ buffer: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
    guard let bio, let buffer, count > 0, let target = socketBIO(bio) else { return 0 }
    lk_BIO_clear_retry_flags(bio)
    let bytes = UnsafeRawBufferPointer(start: buffer, count: Int(count))
    let result = target._withUnsafeGuaranteedRef { $0.write(bytes) }
    if result >= 0 { return Int32(truncatingIfNeeded: result) }
    if result == -Int(EAGAIN) { lk_BIO_set_retry_write(bio) }
    return -1
}

private func controlForOpenSSL(
    _ bio: OpaquePointer?, _ command: Int32, _ number: Int, _ pointer: UnsafeMutableRawPointer?
) -> Int {
    switch command {
    case BIO_CTRL_FLUSH: 1
    case BIO_CTRL_EOF: socketBIO(bio)?._withUnsafeGuaranteedRef { $0.sawEnd } == true ? 1 : 0
    case _: 0
    }
}
