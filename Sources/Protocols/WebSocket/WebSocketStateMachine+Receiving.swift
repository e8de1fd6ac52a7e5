extension WebSocketStateMachine {
    /// The largest size of a payload's memory that is kept for the next text, in bytes.
    private static let keptMemory = 64 * 1024

    /// Reads `input` from `position`, which is advanced behind the bytes read.
    ///
    /// - Returns: The next event; nil if all of the input was read. Bytes after a close frame are ignored.
    /// - Throws: ``WebSocketError`` if the other side has violated the protocol. A close frame with this reason waits
    ///   to be sent.
    public mutating func receive(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(WebSocketError) -> WebSocketEvent? {
        switch state {
        case .open, .closing: break
        case .closed:
            position = input.count
            return nil
        case .failed(let error): throw error
        }
        do throws(WebSocketError) {
            return try read(input, &position)
        } catch {
            throw fail(error)
        }
    }

    /// Reports that the connection has ended.
    /// - Throws: ``WebSocketError/Kind/closedEarly`` if no close frame was received.
    public mutating func finish() throws(WebSocketError) {
        switch state {
        case .closed: break
        case .failed(let error): throw error
        case .open, .closing:
            let error = WebSocketError(.closedEarly)
            state = .failed(error)
            throw error
        }
    }

    private mutating func fail(_ error: WebSocketError) -> WebSocketError {
        if isOpen { closeFrame = makeCloseFrame(error.closeCode, error.description) }
        state = .failed(error)
        payload = WebSocketPayload()
        return error
    }

    private mutating func read(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(WebSocketError) -> WebSocketEvent? {
        while true {
            switch reading {
            case .header:
                guard let header = try readHeader(input, &position) else { return nil }
                try begin(header)
                reading = .payload(header, missing: header.length)
            case .payload(let header, missing: 0):
                reading = .header
                if let event = try end(header) { return event }
            case .payload(var header, let missing):
                let piece = UnsafeRawBufferPointer(rebasing: input[min(position, input.count)...].prefix(missing))
                guard !piece.isEmpty else { return nil }
                position += piece.count
                try take(piece, &header)
                reading = .payload(header, missing: missing - piece.count)
            }
        }
    }

    private mutating func readHeader(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(WebSocketError) -> WebSocketFrameHeader? {
        let rest = UnsafeRawBufferPointer(rebasing: input[min(position, input.count)...])
        guard !partialHeader.isEmpty else {
            if let (header, size) = try WebSocketFrameHeader.read(rest) {
                position += size
                return header
            }
            partialHeader.append(contentsOf: rest)
            position += rest.count
            return nil
        }
        let before = partialHeader.count
        partialHeader.append(contentsOf: rest.prefix(WebSocketFrameHeader.maximumSize - before))
        let read = partialHeader.withUnsafeBytes { bytes in
            Result { () throws(WebSocketError) in try WebSocketFrameHeader.read(bytes) }
        }
        guard let (header, size) = try read.get() else {
            position += partialHeader.count - before
            return nil
        }
        partialHeader.removeAll(keepingCapacity: true)
        position += size - before
        return header
    }

    // MARK: Frames

    private mutating func begin(_ header: WebSocketFrameHeader) throws(WebSocketError) {
        switch role {
        case .client: guard header.mask == nil else { throw WebSocketError(.masked) }
        case .server: guard header.mask != nil else { throw WebSocketError(.unmasked) }
        }
        switch header.opcode {
        case .text: try begin(.text, header)
        case .binary: try begin(.binary, header)
        case .continuation:
            guard incoming != nil else { throw WebSocketError(.continuationOfNothing) }
            guard !header.isCompressed else { throw WebSocketError(.reservedBits) }
            try announce(header)
        case .close, .ping, .pong:
            guard !header.isCompressed else { throw WebSocketError(.reservedBits) }
            controlPayload.removeAll(keepingCapacity: true)
        }
    }

    private mutating func begin(
        _ kind: WebSocketMessageKind, _ header: WebSocketFrameHeader
    ) throws(WebSocketError) {
        guard incoming == nil else { throw WebSocketError(.messageInMessage) }
        guard !header.isCompressed || inflater != nil else { throw WebSocketError(.reservedBits) }
        incoming = Incoming(kind: kind, isCompressed: header.isCompressed)
        try announce(header)
    }

    /// Refuses a too long message before its bytes arrive. A compressed message may be a little longer than its
    /// contents.
    private mutating func announce(_ header: WebSocketFrameHeader) throws(WebSocketError) {
        guard var message = incoming else { return }
        if header.length == 0, !header.isFinal {
            message.emptyFrames += 1
            guard message.emptyFrames <= limits.emptyFrames else { throw WebSocketError(.emptyFrameFlood) }
        }
        let limit = max(0, limits.messageBytes)
        let most = message.isCompressed ? limit.addingReportingOverflow(limit / 64 + 1024).partialValue : limit
        let (received, overflow) = message.received.addingReportingOverflow(header.length)
        guard !overflow, received <= most || most < limit else { throw WebSocketError(.messageTooBig(limit: limit)) }
        message.received = received
        incoming = message
        if !message.isCompressed, !dropsMessages { try payload.reserve(header.length) }
    }

    private mutating func take(
        _ piece: UnsafeRawBufferPointer, _ header: inout WebSocketFrameHeader
    ) throws(WebSocketError) {
        guard !header.opcode.isControl else {
            if header.mask == nil {
                controlPayload.append(contentsOf: piece)
            } else {
                header.mask?.append(piece, to: &controlPayload)
            }
            return
        }
        if dropsMessages { return }
        guard incoming?.isCompressed == true else {
            let start = payload.count
            try payload.append(piece)
            header.mask?.apply(to: payload.tail(from: start))
            return try checkText(from: start)
        }
        guard header.mask != nil else { return try inflate(piece) }
        var plain: [UInt8] = []
        header.mask?.append(piece, to: &plain)
        let result = plain.withUnsafeBytes { bytes in Result { () throws(WebSocketError) in try inflate(bytes) } }
        try result.get()
    }

    private mutating func inflate(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) {
        try inflate { (inflater, payload, limit) throws(WebSocketError) in
            try inflater.inflate(bytes, into: payload, limit: limit)
        }
    }

    /// Bytes that were decompressed before an error are checked first, so that the result does not depend on the
    /// division of the input.
    private mutating func inflate(
        _ run: (MessageInflater, WebSocketPayload, Int) throws(WebSocketError) -> Void
    ) throws(WebSocketError) {
        guard let inflater else { return }
        let start = payload.count
        let limit = max(0, limits.messageBytes)
        do throws(WebSocketError) {
            try run(inflater, payload, limit)
        } catch {
            // Bytes beyond the limit are not checked: their number depends on the division of the input.
            try checkText(from: start, to: limit)
            throw error
        }
        try checkText(from: start)
    }

    private mutating func checkText(from start: Int, to end: Int = .max) throws(WebSocketError) {
        guard incoming?.kind == .text else { return }
        let text = UnsafeRawBufferPointer(rebasing: payload.tail(from: start).prefix(max(0, end - start)))
        guard incoming?.text.accepts(text) == true else {
            throw WebSocketError(.invalidUTF8)
        }
    }

    private mutating func end(_ header: WebSocketFrameHeader) throws(WebSocketError) -> WebSocketEvent? {
        switch header.opcode {
        case .text, .binary, .continuation: return header.isFinal ? try endMessage() : nil
        case .ping:
            answerPing()
            return .ping(controlPayload)
        case .pong: return .pong(controlPayload)
        case .close: return try endConnection()
        }
    }

    private mutating func endMessage() throws(WebSocketError) -> WebSocketEvent? {
        guard let message = incoming else { return nil }
        guard !dropsMessages else {
            incoming = nil
            return nil
        }
        if message.isCompressed {
            try inflate { (inflater, payload, limit) throws(WebSocketError) in
                try inflater.finish(into: payload, limit: limit)
            }
        }
        guard incoming?.text.isComplete == true else { throw WebSocketError(.invalidUTF8) }
        incoming = nil
        switch message.kind {
        case .text:
            let text = payload.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            payload.removeAll(keepingAtMost: Self.keptMemory)
            return .text(text)
        case .binary:
            let whole = payload
            payload = WebSocketPayload()
            return .binary(whole)
        }
    }

    /// Ends the connection. The close frame is answered with the same code, unless this side has sent one before
    /// (§5.5.1).
    private mutating func endConnection() throws(WebSocketError) -> WebSocketEvent {
        let bytes = controlPayload
        guard bytes.count != 1 else { throw WebSocketError(.malformedClose) }
        var code = WebSocketCloseCode.noStatusReceived
        if bytes.count >= 2 {
            code = WebSocketCloseCode(rawValue: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
            guard code.maySend else { throw WebSocketError(.invalidCloseCode(code.rawValue)) }
        }
        guard let reason = String(validating: bytes.dropFirst(2), as: UTF8.self) else {
            throw WebSocketError(.invalidUTF8)
        }
        if isOpen { closeFrame = makeCloseFrame(code, "") }
        state = .closed
        dropPongs()
        return .close(code, reason: reason)
    }
}
