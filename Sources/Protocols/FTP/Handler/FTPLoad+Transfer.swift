import Foundation
@_spi(LoadingKitPlugins) import LoadingKitCore
import LoadingKitFTP
@_spi(LoadingKitPlugins) import LoadingKitHTTP
import LoadingKitTransport

extension FTPLoad {
    /// A transfer on a connection on which the user is logged in.
    final class Transfer: @unchecked Sendable {  // confined to the load's loop
        enum Phase {
            /// The server has not begun the transfer.
            case asked
            /// The server sends the bytes of a file, or of a listing.
            case receiving(FTPListingBody?)
            /// The rest of a part of the body, and the source of the next part.
            case sending(BodyPiece, more: (any BodySource)?)
            /// The load waits for the next part from the body's source.
            case readingBody
            /// The stream has all bytes of the body. TLS may keep the last ones until the socket takes them.
            case sent
            /// Bytes of the body will never be sent. Until the timer fires, the server may report the reason on the
            /// control connection.
            case notSent(TransportError, LoopTimer)
        }

        let plan: Plan
        let connection: FTPConnection
        var phase = Phase.asked
        var facts = FTPFacts()
        var range: Range<Int64>?
        var received: Int64 = 0
        /// Checked while the body is sent: the end of the data connection tells the server that the file is complete.
        var bodyLength: BodyLength

        init(_ plan: Plan, _ connection: FTPConnection) {
            self.plan = plan
            self.connection = connection
            bodyLength = BodyLength(of: plan.request.body)
        }

        var request: FTPRequest { plan.request }

        /// The number of bytes to receive, if the server reported the size by `SIZE`, which is exact.
        var expectedCount: Int64? {
            guard request.transfer.path.form != .text else { return nil }
            return range.map { Int64($0.count) } ?? facts.size
        }

        /// Whether the data connection must end with a reset, as bytes of an upload are missing: its orderly end tells
        /// the server that the file is complete.
        var endsDataWithReset: Bool {
            switch request.transfer.operation {
            case .store, .append:
                if case .sent = phase { connection.data.stream?.hasUnsentBytes == true } else { true }
            case .retrieve, .list, .inspect, .makeDirectory: false
            }
        }

        /// Stops receiving and sending.
        func stop() {
            if case .notSent(_, let timer) = phase { timer.cancel() }
            connection.data.close(resets: endsDataWithReset)
            request.body.abandon()
        }
    }

    /// Whether the end of the data connection must not complete an upload.
    var endsDataWithReset: Bool {
        if case .transferring(let transfer) = state { transfer.endsDataWithReset } else { false }
    }

    func beginTransfer(_ plan: Plan, _ connection: FTPConnection, isReused: Bool) {
        guard let metrics = connection.metrics else { return }
        timings.beginRequest(on: metrics, isReused: isReused, at: session.loop.now)
        note(.requestBegan(isReusedConnection: isReused), connection: connection.number)
        state = .transferring(Transfer(plan, connection))
        connection.run { $0.begin(plan.request.transfer) }
    }

    func fileIsKnown(_ facts: FTPFacts, _ transfer: Transfer) {
        transfer.facts = facts
        if let (wanted, size) = transfer.request.range(of: facts) {
            guard let range = wanted.resolved(total: size) else {
                timings.endRequest(at: session.loop.now)
                give(transfer.request.unsatisfiableResponse(size: size))
                return finish()
            }
            // A suffix of an empty file is the file.
            if !range.isEmpty { transfer.range = range }
        }
        let bodyOffset = transfer.request.transfer.operation == .store ? transfer.request.bodyOffset : 0
        transfer.connection.run { $0.proceed(from: transfer.range?.lowerBound ?? bodyOffset) }
    }

    func transferDidBegin(_ beginning: FTPClientStateMachine.Beginning, _ transfer: Transfer) {
        let request = transfer.request
        timings.endRequest(at: session.loop.now)
        switch request.transfer.operation {
        case .retrieve:
            if beginning.offset == 0, transfer.range?.lowerBound ?? 0 > 0 { transfer.range = nil }
            var facts = transfer.facts
            if facts.size == nil, request.transfer.path.form != .text { facts.size = beginning.announcedSize }
            transfer.phase = .receiving(nil)
            give(request.fileResponse(facts, part: transfer.range))
        case .list:
            transfer.phase = .receiving(FTPListingBody(request, isMachineListing: beginning.isMachineListing))
            give(request.listingResponse)
        case .store, .append:
            transfer.phase = .sending(.bytes(request.body.data ?? Data()), more: request.body.source)
            receiver?.noteActivity()
        case .inspect, .makeDirectory: break
        }
        moveData()
    }

    func transferDidFinish(_ facts: FTPFacts, _ transfer: Transfer) throws {
        let request = transfer.request
        switch request.transfer.operation {
        case .retrieve:
            if let expected = transfer.expectedCount, transfer.received < expected {
                throw LoadFailure(
                    .networkConnectionLost,
                    "the server sent \(transfer.received) bytes of the \(expected) that the file has")
            }
        case .list:
            if case .asked = transfer.phase { return giveEmptyListing(facts, transfer) }
            if case .receiving(let listing?) = transfer.phase { try listing.finish().withUnsafeBytes(give) }
        case .inspect: give(request.fileResponse(facts, part: nil))
        case .store, .append:
            // The server took the end of a lost data connection for that of the body.
            if case .notSent(let failure, _) = transfer.phase { throw failure }
            give(request.writtenResponse)
        case .makeDirectory: give(request.writtenResponse)
        }
        finish()
    }
}

extension FTPLoad {
    /// The server has refused to list a folder without entries.
    private func giveEmptyListing(_ facts: FTPFacts, _ transfer: Transfer) {
        let connection = transfer.connection
        if connection.mayHearMore { connection.close() } else { connection.data.close() }
        timings.endRequest(at: session.loop.now)
        transfer.phase = .receiving(FTPListingBody(transfer.request, isMachineListing: false))
        give(transfer.request.listingResponse)
        // The program may have to decide about the response before it gets bytes.
        perform(.finish(facts))
    }
}

/// Transfers bytes between the data connection and the receiver, or the body.
extension FTPLoad {
    /// The maximum number of reads of the bytes that arrived before the server reported a failure. It bounds the time
    /// spent on a server that continues to send.
    private static let readsOfRest = 256

    /// Receives or sends all bytes that can be transferred now.
    func moveData() {
        guard case .transferring(let transfer) = state else { return }
        switch transfer.phase {
        case .receiving(let listing):
            if read(listing, transfer, atMost: FTPConnection.readsInARow) {
                transfer.connection.data.stream?.notifyInNextTurn()
            }
        case .sending(let piece, let source): send(piece, source, transfer)
        case .sent: endSending(transfer)
        case .asked, .readingBody, .notSent: break
        }
    }

    // MARK: Receiving

    /// Receives the bytes that arrived before the server reported a failure, so that a resumed download need not load
    /// them again.
    func receiveRest() {
        guard case .transferring(let transfer) = state, case .receiving(let listing) = transfer.phase else { return }
        // The event loop may not have reported yet that these bytes arrived.
        transfer.connection.data.stream?.assumeReadable()
        _ = read(listing, transfer, atMost: Self.readsOfRest)
    }

    /// Reads at most `count` times. Returns false if there is nothing more to read now.
    private func read(_ listing: FTPListingBody?, _ transfer: Transfer, atMost count: Int) -> Bool {
        for _ in 0..<count {
            guard !isBlocked, let receiver, let stream = transfer.connection.data.stream else { return false }
            let left = (transfer.expectedCount ?? .max) - transfer.received
            let memory =
                listing == nil && left > 0 ? receiver.bodyBuffer(atMost: Int(clamping: min(left, 1 << 20))) : nil
            // Read at most the expected bytes. When all have arrived, read one byte more, which is an error if there is
            // one.
            let scratch = session.loop.scratch.prefix(max(1, Int(clamping: left)))
            let space = memory ?? UnsafeMutableRawBufferPointer(rebasing: scratch)
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
                // After a partial response's range the server would send the rest of the file: the connection is
                // closed.
                let isWhole = transfer.range.map { $0.upperBound == transfer.facts.size } ?? true
                if !isWhole, transfer.received == transfer.expectedCount { finish() }
            case .wouldBlock: return false
            // Many servers end TLS by closing the connection. The size then shows whether all bytes have arrived.
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
                "the server sent more than the \(expected) bytes that the file has, as it said: it has changed "
                    + "meanwhile")
        }
        give(bytes)
    }

    // MARK: Sending

    private func send(_ piece: BodyPiece, _ source: (any BodySource)?, _ transfer: Transfer) {
        guard !isBlocked, let stream = transfer.connection.data.stream else { return }
        var (rest, failure) = (piece, nil as TransportError?)
        writing: while !rest.isEmpty {
            switch attempt({ try rest.write(to: stream) }) {
            case .bytes(let count): rest.removeFirst(count)
            case .wouldBlock: break writing
            case .failed(let error):
                failure = error
                break writing
            case nil: return
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
            didNotSend(failure, transfer)
        } else if rest.isEmpty {
            if let source { return readPiece(source, transfer, stream) }
            transfer.phase = .sent
            stream.finishWriting()
            endSending(transfer)
        }
    }

    /// Ends the sending of a body once the socket has taken all of it: TLS may keep the last bytes.
    private func endSending(_ transfer: Transfer) {
        guard let stream = transfer.connection.data.stream else { return }
        if let loss = stream.loss {
            didNotSend(loss, transfer)
        } else if stream.hasUnsentBytes {
            return
        }
        let connection = transfer.connection
        connection.run { machine in
            // The server has reported completion before, and may still be reading.
            if machine.hasLastReply { connection.data.closeWhenSent() }
            return machine.dataDidEnd()
        }
    }

    private func didNotSend(_ failure: TransportError, _ transfer: Transfer) {
        transfer.connection.data.close(resets: true)
        // The server's reply about a data connection that it closed arrives at once, if there is one.
        let time = session.loop.now.advanced(bySeconds: 1)
        transfer.phase = .notSent(failure, session.loop.schedule(at: time) { [weak self] in self?.fail(failure) })
    }

    private func readPiece(_ source: any BodySource, _ transfer: Transfer, _ stream: ByteStream) {
        transfer.phase = .readingBody
        source.readPiece(for: stream) { [weak self, loop = session.loop] result in
            loop.perform { [weak self] in
                self?.attempt {
                    let piece = try result.get()
                    try transfer.bodyLength.count(piece?.count)
                    transfer.phase = .sending(piece ?? .empty, more: piece == nil ? nil : source)
                    self?.moveData()
                }
            }
        }
    }
}
