import LoadingKitCore
import LoadingKitFTP
import LoadingKitTransport

/// Moves the bytes of a file or a listing from the data connection to the receiver.
extension FTPLoad {
    /// Reads in a row before the loop's other connections have their turn.
    private static let readsInARow = 16

    func dataDidBecomeReady() {
        receiver?.noteActivity()
        readData()
        sendData()
    }

    func dataDidBecomeReadable() { readData() }

    func readData() {
        guard listing != nil || request?.transfer.operation == .retrieve, beginning != nil else { return }
        for _ in 0..<Self.readsInARow {
            guard !isBlocked, !isDataOver, receiver != nil, let stream = data?.stream else { return }
            guard readOnce(stream) else { return }
        }
        loop.executeLater { [weak self] in self?.readData() }
    }

    /// Reads a file's bytes that have come.
    func readRest() {
        guard isReading else { return }
        // The event for what came before the reply may not have been seen.
        data?.stream?.assumeReadable()
        for _ in 0..<Self.readsOfRest {
            guard !isBlocked, !isDataOver, receiver != nil, let stream = data?.stream, readOnce(stream) else { return }
        }
    }

    /// A server that goes on sending is not listened to.
    private static let readsOfRest = 256

    /// False when there is no more to read now.
    private func readOnce(_ stream: ByteStream) -> Bool {
        let left = (expectedCount ?? .max) - received
        if listing == nil, left > 0, let memory = receiver?.bodyBuffer(atMost: Int(clamping: min(left, 1 << 20))) {
            let space = UnsafeMutableRawBufferPointer(rebasing: memory.prefix(Int(clamping: left)))
            switch stream.read(into: space) {
            case .bytes(let count):
                note(count)
                if receiver?.bodyBufferFilled(count) == .wait { isBlocked = true }
                checkRangeEnd()
                return true
            case .wouldBlock: return false
            case .end: dataDidEnd()
            case .failed(let error): dataDidFailToRead(error)
            }
            return false
        }
        switch stream.read(into: loop.scratch) {
        case .bytes(let count):
            note(count)
            take(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]))
            return true
        case .wouldBlock: return false
        case .end: dataDidEnd()
        case .failed(let error): dataDidFailToRead(error)
        }
        return false
    }

    private func note(_ count: Int) {
        received += Int64(count)
        timings.responseBodyBytesReceived += Int64(count)
        if listing == nil { timings.responseBodyBytesAfterDecoding += Int64(count) }
    }

    func take(_ bytes: UnsafeRawBufferPointer) {
        guard listing != nil else {
            if isTooLong { return fail(LoadFailure.differentSize(received, expected: expectedCount)) }
            // Of a part no more than that part is given.
            let surplus = range.map { max(0, received - ($0.upperBound - $0.lowerBound)) } ?? 0
            let part = UnsafeRawBufferPointer(rebasing: bytes.dropLast(Int(clamping: surplus)))
            if !part.isEmpty, receiver?.receive(part) == .wait { isBlocked = true }
            return checkRangeEnd()
        }
        do throws(FTPListingError) {
            let rows = try listing?.receive(bytes) ?? []
            give(rows)
        } catch {
            fail(error)
        }
    }

    /// Whether the server has sent more than the file has, as it said. Of a part in the midst it may, up to the file's end.
    private var isTooLong: Bool {
        guard let expectedCount, received > expectedCount else { return false }
        return range.map { $0.upperBound == facts.size } ?? true
    }

    /// The part that was asked for is there, and the server would send on to the file's end: the connection is given up.
    private func checkRangeEnd() {
        guard let range, let size = facts.size, range.upperBound < size,
            received >= range.upperBound - range.lowerBound,
            let connection
        else { return }
        stopTransfer()
        connection.load = nil
        connection.close()
        state = .waiting
        finish()
    }

    func dataDidEnd() {
        isDataOver = true
        data?.close()
        connection?.dataDidEnd()
    }

    /// Many servers end TLS by closing the connection: then the size shows whether all bytes are there.
    private func dataDidFailToRead(_ error: TransportError) {
        if error.cause == .truncated, let expected = expectedCount, received == expected, listing == nil {
            return dataDidEnd()
        }
        isDataOver = true
        data?.close()
        fail(error)
    }
}
