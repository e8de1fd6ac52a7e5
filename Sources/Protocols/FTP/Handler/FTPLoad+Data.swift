import Foundation
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
        case .sending(let piece, let source): send(piece, source, transfer)
        case .asked, .readingBody, .sent: break
        }
    }

    // MARK: Receiving

    /// A download that is resumed need not load again what came before the server broke off.
    func receiveRest() {
        guard case .transferring(let transfer) = state, case .receiving(let listing) = transfer.phase else { return }
        // The event for what came before the reply may not have been seen.
        transfer.connection.data.stream?.assumeReadable()
        _ = read(listing, transfer, atMost: Self.readsOfRest)
    }

    /// False when there is no more to read now.
    private func read(_ listing: FTPListingBody?, _ transfer: Transfer, atMost count: Int) -> Bool {
        for _ in 0..<count {
            guard !isBlocked, let receiver, let stream = transfer.connection.data.stream else { return false }
            let left = (transfer.expectedCount ?? .max) - transfer.received
            let memory =
                listing == nil && left > 0 ? receiver.bodyBuffer(atMost: Int(clamping: min(left, 1 << 20))) : nil
            // No more than is expected, but where all is there: then any more is an error.
            let space =
                memory ?? UnsafeMutableRawBufferPointer(rebasing: loop.scratch.prefix(max(1, Int(clamping: left))))
            switch stream.read(into: space) {
            case .bytes(let count):
                transfer.received += Int64(count)
                timings.responseBodyBytesReceived += Int64(count)
                if memory != nil {
                    timings.responseBodyBytesAfterDecoding += Int64(count)
                    note(receiver.bodyBufferFilled(count))
                } else {
                    attempt { try take(UnsafeRawBufferPointer(rebasing: space[..<count]), listing, transfer) }
                }
                // The connection, on which the server would send on, is given up.
                if transfer.isPartComplete { finish() }
            case .wouldBlock: return false
            // Many servers end TLS by closing the connection: then the size shows whether all bytes are there.
            case .failed(let error) where error.cause != .truncated || transfer.received != transfer.expectedCount:
                fail(error)
            case .end, .failed:
                transfer.connection.data.close()
                transfer.connection.run { $0.dataDidEnd() }
            }
        }
        return true
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ listing: FTPListingBody?, _ transfer: Transfer) throws {
        if let listing { return try listing.receive(bytes).withUnsafeBytes(give) }
        if let expected = transfer.expectedCount, transfer.received > expected {
            throw LoadFailure(
                .badServerResponse,
                "the server sent more than the \(expected) bytes that the file has, as it said: it has changed meanwhile")
        }
        give(bytes)
    }

    // MARK: Sending

    private func send(_ piece: Data, _ source: (any BodySource)?, _ transfer: Transfer) {
        guard !isBlocked, let stream = transfer.connection.data.stream else { return }
        var (rest, failure) = (piece, nil as TransportError?)
        writing: while !rest.isEmpty {
            switch rest.withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wouldBlock: break writing
            case .failed(let error):
                failure = error
                break writing
            }
        }
        transfer.phase = .sending(rest, more: source)
        let sent = piece.count - rest.count
        if sent > 0 {
            timings.requestBodyBytesSent += Int64(sent)
            timings.requestBodyBytesBeforeEncoding += Int64(sent)
            receiver?.didSendBody(sent, expected: transfer.request.body.expectedCount)
        }
        if let failure {
            transfer.connection.data.close()
            // What the server has to say of a data connection that it has closed comes at once, if it comes.
            let time = loop.now.advanced(bySeconds: 1)
            transfer.phase = .sent(loop.schedule(at: time) { [weak self] in self?.fail(failure) })
        } else if rest.isEmpty {
            if let source { return readPiece(source, transfer) }
            transfer.phase = .sent(nil)
            stream.finishWriting()
            transfer.connection.run { $0.dataDidEnd() }
        }
    }

    private func readPiece(_ source: any BodySource, _ transfer: Transfer) {
        transfer.phase = .readingBody
        source.read { [weak self, loop] result in
            loop.perform { [weak self] in
                guard let self, case .transferring(let transfer) = state, case .readingBody = transfer.phase else {
                    return
                }
                attempt {
                    let piece = try result.get()
                    transfer.phase = .sending(piece ?? Data(), more: piece == nil ? nil : source)
                    moveData()
                }
            }
        }
    }
}
