import LoadingKitCore
import LoadingKitFTP
import LoadingKitTransport

/// Moves bytes between the data connection and the receiver, or the body.
extension FTPLoad {
    /// Reads in a row before the loop's other connections have their turn.
    private static let readsInARow = 16
    /// Reads for what came before the server broke off: one that goes on sending is not listened to.
    private static let readsOfRest = 256

    /// Receives or sends what can be received or sent now.
    func moveData() {
        guard case .transferring(let transfer) = state else { return }
        switch transfer.phase {
        case .receiving(let listing):
            guard read(listing, transfer, atMost: Self.readsInARow) else { return }
            loop.executeLater { [weak self] in self?.moveData() }
        case .sending(let sender): send(sender, transfer)
        case .asked, .sent: break
        }
    }

    // MARK: Receiving

    func receiveRest() {
        guard case .transferring(let transfer) = state, case .receiving(let listing) = transfer.phase else { return }
        // The event for what came before the reply may not have been seen.
        transfer.connection.dataStream?.assumeReadable()
        _ = read(listing, transfer, atMost: Self.readsOfRest)
    }

    /// False when there is no more to read now.
    private func read(_ listing: FTPListingBody?, _ transfer: Transfer, atMost count: Int) -> Bool {
        for _ in 0..<count {
            guard !isBlocked, let receiver, let stream = transfer.connection.dataStream else { return false }
            let left = (transfer.expectedCount ?? .max) - transfer.received
            let memory =
                listing == nil && left > 0 ? receiver.bodyBuffer(atMost: Int(clamping: min(left, 1 << 20))) : nil
            // No more than is expected, but where all is there: then any more is an error.
            let space =
                memory
                ?? UnsafeMutableRawBufferPointer(rebasing: loop.scratch.prefix(left > 0 ? Int(clamping: left) : 1))
            switch stream.read(into: space) {
            case .bytes(let count):
                transfer.received += Int64(count)
                timings.responseBodyBytesReceived += Int64(count)
                if listing == nil { timings.responseBodyBytesAfterDecoding += Int64(count) }
                if memory != nil {
                    note(receiver.bodyBufferFilled(count))
                } else {
                    take(UnsafeRawBufferPointer(rebasing: space[..<count]), listing, transfer)
                }
                // The connection, on which the server would send on, is given up.
                if transfer.isPartComplete { finish() }
            case .wouldBlock: return false
            // Many servers end TLS by closing the connection: then the size shows whether all bytes are there.
            case .failed(let error) where error.cause != .truncated || transfer.received != transfer.expectedCount:
                fail(error)
            case .end, .failed:
                transfer.connection.closeData()
                transfer.connection.run { $0.dataDidEnd() }
            }
        }
        return true
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ listing: FTPListingBody?, _ transfer: Transfer) {
        do {
            if let listing { return give(try listing.receive(bytes)) }
            if let expected = transfer.expectedCount, transfer.received > expected {
                throw LoadFailure.differentSize(transfer.received, expected: expected)
            }
            if let receiver { note(receiver.receive(bytes)) }
        } catch {
            fail(error)
        }
    }

    // MARK: Sending

    private func send(_ sender: FTPBodySender, _ transfer: Transfer) {
        guard !isBlocked, let stream = transfer.connection.dataStream else { return }
        let before = sender.count
        let progress = sender.proceed(stream)
        let sent = sender.count - before
        if sent > 0 {
            timings.requestBodyBytesSent += sent
            timings.requestBodyBytesBeforeEncoding += sent
            receiver?.didSendBody(Int(sent), expected: transfer.request.body.expectedCount)
        }
        switch progress {
        case .blocked: break
        case .needsPiece(let source): readPiece(source)
        case .done:
            transfer.phase = .sent(nil)
            stream.finishWriting()
            transfer.connection.run { $0.dataDidEnd() }
        case .failed(let error):
            transfer.connection.closeData()
            // What the server has to say of a data connection that it has closed comes at once, if it comes.
            let time = loop.now.advanced(bySeconds: 1)
            transfer.phase = .sent(loop.schedule(at: time) { [weak self] in self?.fail(error) })
        }
    }

    private func readPiece(_ source: any BodySource) {
        source.read { [weak self, loop] result in
            loop.perform { [weak self] in
                guard let self, case .transferring(let transfer) = state, case .sending(let sender) = transfer.phase
                else { return }
                switch result {
                case .success(let piece):
                    sender.supply(piece)
                    send(sender, transfer)
                case .failure(let error): fail(error)
                }
            }
        }
    }
}
