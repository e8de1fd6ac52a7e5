import LoadingKitLoopbackServer

/// One connection following its script, on the connection's own thread.
final class ScriptRun {
    /// Why a script ends before its last step.
    enum Interruption: Error {
        case closedByOther
        case stopped
        /// The script itself said so.
        case ended
    }

    let socket: StreamSocket
    let number: Int
    let requests: Recorder<RecordedRequest>
    let requestsWithBody: Recorder<RecordedRequest>
    let log: ConnectionLog
    let stopping: Signal
    let released: Signal
    let contexts: TLSContexts
    /// Bytes that were read but that no step has wanted yet.
    var unread: ArraySlice<UInt8> = []
    /// The head whose body has not been read.
    var pendingRequest: RecordedRequest?

    init(
        socket: StreamSocket, number: Int, requests: Recorder<RecordedRequest>,
        requestsWithBody: Recorder<RecordedRequest>, log: ConnectionLog, stopping: Signal, released: Signal,
        contexts: TLSContexts
    ) {
        self.socket = socket
        self.number = number
        self.requests = requests
        self.requestsWithBody = requestsWithBody
        self.log = log
        self.stopping = stopping
        self.released = released
        self.contexts = contexts
    }

    func follow(_ script: [ScriptedPeer.Step]) {
        let ending = outcome(of: script)
        socket.close()
        log.ended(number, stopping.hasFired && ending != .scriptDone ? .stopped : ending)
    }

    private func outcome(of script: [ScriptedPeer.Step]) -> RecordedConnection.Ending {
        do {
            for step in script { try perform(step) }
            return .scriptDone
        } catch Interruption.ended {
            return .scriptDone
        } catch Interruption.stopped {
            return .stopped
        } catch Interruption.closedByOther {
            return .closedByOther(withCloseNotify: socket.receivedCloseNotify)
        } catch {
            return .failed(String(describing: error))
        }
    }

    private func perform(_ step: ScriptedPeer.Step) throws {
        switch step {
        case .expectRequest:
            try readHead()
            try readBody()
            recordRequest(in: requests)
        case .expectHead:
            try readHead()
            recordRequest(in: requests)
        case .expectBody:
            try readBody()
            recordRequest(in: requestsWithBody)
        case .expectBytes(let count): _ = try take(count)
        case .expectThrough(let bytes): _ = try take(through: bytes)
        case .expectAnything: try readAnything()
        case .readUntilClose: try readUntilClose()
        case .send(let bytes): try socket.write(bytes)
        case .sendByteByByte(let bytes): for byte in bytes { try socket.write([byte]) }
        case .sendForever(let bytes): while true { try socket.write(bytes) }
        case .waitFor(let signal): try wait(for: signal)
        case .fire(let signal): signal.fire()
        case .hold: try wait(for: released)
        case .waitUntilPeerCloses: try socket.waitUntilPeerCloses()
        case .startTLS(let options): try startTLS(options)
        case .beginTLS(let options, let count): try beginTLS(options, answerBytes: count)
        case .askForCertificate: try socket.requestCertificate()
        case .askForCertificateOutside: try socket.requestCertificateOutside()
        case .awaitCertificate: socket.awaitCertificate()
        case .respondWithClient: try perform(.respond(socket.peerCommonName ?? "nobody"))
        case .sendCloseNotify: socket.sendCloseNotify()
        case .halfClose: socket.halfClose()
        case .close: try end { socket.close() }
        case .closeWithoutNotify: try end { socket.closeWithoutNotify() }
        case .reset: try end { socket.reset() }
        case .forever(let steps): while true { for step in steps { try perform(step) } }
        case .repeated(let count, let steps): for _ in 0..<count { for step in steps { try perform(step) } }
        }
    }

    private func end(_ how: () -> Void) throws {
        how()
        throw Interruption.ended
    }

    private func wait(for signal: Signal) throws {
        guard signal.waitBlocking(interruptedBy: stopping) else { throw Interruption.stopped }
    }

    private func startTLS(_ options: TLSServerOptions) throws {
        try socket.startTLS(try contexts.context(for: options))
        log.startedTLS(socket.tlsFacts, on: number)
    }

    private func beginTLS(_ options: TLSServerOptions, answerBytes count: Int) throws {
        let handshake = try InterruptedHandshake(try contexts.context(for: options))
        var answer: [UInt8] = []
        while answer.isEmpty { answer = try handshake.answer(to: try receive()) }
        try socket.write(Array(answer.prefix(count)))
    }

    // MARK: Reading

    /// The next bytes from the socket, recorded.
    private func receive() throws -> [UInt8] {
        let bytes = try socket.read()
        guard !bytes.isEmpty else { throw Interruption.closedByOther }
        log.received(bytes, on: number)
        return bytes
    }

    /// Takes this number of bytes, and reads as many as are missing.
    func take(_ count: Int) throws -> [UInt8] {
        while unread.count < count { unread += try receive() }
        defer { unread = unread.dropFirst(count) }
        return Array(unread.prefix(count))
    }

    /// Takes the bytes up to and with these.
    func take(through end: [UInt8]) throws -> [UInt8] {
        var searched = unread.startIndex
        while true {
            var position = searched
            while position + end.count <= unread.endIndex {
                if unread[position..<(position + end.count)].elementsEqual(end) {
                    return try take(position + end.count - unread.startIndex)
                }
                position += 1
            }
            searched = position
            unread += try receive()
        }
    }

    private func readAnything() throws {
        if unread.isEmpty { _ = try receive() }
        unread = []
    }

    private func readUntilClose() throws {
        unread = []
        do {
            while true { _ = try receive() }
        } catch Interruption.closedByOther {
            return
        }
    }
}
