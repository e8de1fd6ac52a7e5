import LoadingKitHPACK
import LoadingKitPrimitives

// Messages that are received (RFC 9113 §8).
extension HTTP2ConnectionStateMachine {
    // MARK: DATA

    mutating func receiveData(
        _ stream: UInt32, _ bytes: Range<Int>, counted: Int, isEmptyFrame: Bool, _ endStream: Bool
    ) throws(HTTP2Error) -> HTTP2Event? {
        guard receiving.receive(counted) else {
            throw .connection(.flowControlError, "more DATA than the connection's window allows")
        }
        guard let index = streams.index(of: stream) else {
            // Its window is the connection's alone.
            consume(counted, of: nil)
            try ignore(stream, "DATA")
            return nil
        }
        if isEmptyFrame, !endStream { try flood.countUseless("empty DATA") }
        flood.countUseful(bytes: bytes.count)
        let verdict = streams.update(at: index) {
            $0.receiveData(counted: counted, body: bytes.count, endStream, stream)
        }
        if case .failure(let error)? = verdict {
            consume(counted, of: nil)
            throw error
        }
        // Padding is nobody's.
        if counted > bytes.count { consume(counted - bytes.count, of: stream) }
        if endStream { peerEnded(stream) }
        if bytes.isEmpty, !endStream { return nil }
        return .data(stream: stream, bytes, endStream: endStream)
    }

    /// The peer has sent END_STREAM.
    private mutating func peerEnded(_ stream: UInt32) {
        guard let index = streams.index(of: stream) else { return }
        let isOver = streams.update(at: index) { stream -> Bool in
            switch stream.state {
            case .open:
                stream.state = .halfClosedRemote
                return false
            case .halfClosedLocal, .halfClosedRemote:
                return true
            }
        }
        if isOver == true { endInOrder(stream) }
    }

    /// A frame of a stream that is not there (RFC 9113 §5.1).
    private mutating func ignore(_ stream: UInt32, _ frame: String) throws(HTTP2Error) {
        if isIdle(stream) { throw .connection(.protocolError, "\(frame) on stream \(stream), which was not opened") }
        if recentlyEnded.contains(stream) {
            throw .connection(.streamClosed, "\(frame) on stream \(stream), which has ended")
        }
        // What a peer had sent before it heard of a reset is its right.
        if !recentlyReset.contains(stream) { try flood.countUseless("\(frame) on a stream that is closed") }
    }

    // MARK: HEADERS

    mutating func receiveHeaders(
        _ stream: UInt32, _ block: HTTP2Frame.Bytes, _ input: UnsafeRawBufferPointer, _ endStream: Bool
    ) throws(HTTP2Error) -> HTTP2Event? {
        try decode(block, input)
        if let index = streams.index(of: stream) {
            let answersHead = streams[stream]?.isAnswerToHead ?? false
            let state = streams.update(at: index) { ($0.state, $0.message) }
            guard let (state, message) = state else { return nil }
            if case .halfClosedRemote = state {
                throw .stream(stream, .streamClosed, "HEADERS after the end of the message")
            }
            switch message {
            case .awaitsHead(let interims):
                return try receiveHead(stream, index, interims: interims, endStream, answersHead: answersHead)
            case .body:
                return try receiveTrailers(stream, index, endStream)
            }
        }
        guard role == .server, !isOwn(stream), isIdle(stream) else {
            try ignore(stream, "HEADERS")
            return nil
        }
        return try openByPeer(stream, endStream)
    }

    private mutating func decode(
        _ block: HTTP2Frame.Bytes, _ input: UnsafeRawBufferPointer
    ) throws(HTTP2Error) {
        let bytes = frames
        var failure: HPACKError?
        bytes.withBytes(block, of: input) { block in
            do throws(HPACKError) { try decoder.decode(block, into: &list) } catch { failure = error }
        }
        if let failure { throw .connection(.compressionError, "fields cannot be decompressed: \(failure)") }
    }

    /// A new stream of a client's.
    private mutating func openByPeer(_ stream: UInt32, _ endStream: Bool) throws(HTTP2Error) -> HTTP2Event? {
        lastPeerStream = stream
        flood.countMessage()
        if hasSentGoAway { return nil }
        guard streams.count < settings.maximumConcurrentStreams ?? .max else {
            try flood.countReset()
            HTTP2FrameWriter.reset(stream: stream, .refusedStream, into: &output)
            remember(stream)
            return nil
        }
        var new = makeStream()
        new.state = endStream ? .halfClosedRemote : .open
        new.message = .body
        let fields = list.fields
        let head: HTTP2RequestHead
        do throws(HTTP2Error) {
            try checkFields(stream)
            head = try requestHead(stream, fields)
            new.expectedBytes = try contentLength(fields, stream)
            if endStream { try new.checkEnd(stream) }
        } catch {
            // For the count of those that are open.
            streams.insert(new, for: stream)
            throw error
        }
        streams.insert(new, for: stream)
        return .head(stream: stream, .request(head), endStream: endStream)
    }

    private func requestHead(_ stream: UInt32, _ fields: HTTPFields) throws(HTTP2Error) -> HTTP2RequestHead {
        let head = HTTP2RequestHead(
            method: list.method ?? "", scheme: list.scheme, authority: list.authority, path: list.path,
            protocol: list.protocol, fields: fields)
        let isTunnel = head.method == "CONNECT" && head.protocol == nil
        let isWhole =
            isTunnel
            ? head.scheme == nil && head.path == nil && head.authority != nil
            : head.scheme != nil && head.path?.isEmpty == false
        guard !head.method.isEmpty, isWhole, !list.contains(.status),
            head.protocol == nil || (head.method == "CONNECT" && settings.enablesConnectProtocol)
        else { throw .stream(stream, .protocolError, "a request whose pseudo-fields are not those that it must have") }
        return head
    }

    private mutating func receiveHead(
        _ stream: UInt32, _ index: Int, interims: Int, _ endStream: Bool, answersHead: Bool
    ) throws(HTTP2Error) -> HTTP2Event? {
        flood.countMessage()
        try checkFields(stream)
        guard let status = list.status, !hasRequestPseudoFields else {
            throw .stream(stream, .protocolError, "a response whose pseudo-fields are not :status alone")
        }
        let fields = list.fields
        if status < 200 {
            guard status != 101, !endStream else {
                throw .stream(stream, .protocolError, "an interim response that ends the stream, or is 101")
            }
            guard interims < limits.interimResponses else {
                throw .stream(stream, .enhanceYourCalm, "more than \(limits.interimResponses) interim responses")
            }
            _ = streams.update(at: index) { $0.message = .awaitsHead(interims: interims + 1) }
            return .head(stream: stream, .response(status: status, fields), endStream: false)
        }
        // What has no body says of another's how long it would be (RFC 9110 §8.6).
        let hasNoBody = answersHead || status == 204 || status == 304
        let expected: UInt64? = hasNoBody ? 0 : try contentLength(fields, stream)
        let verdict = streams.update(at: index) { stream_ -> Result<Void, HTTP2Error> in
            stream_.message = .body
            stream_.expectedBytes = expected
            do throws(HTTP2Error) {
                if endStream { try stream_.checkEnd(stream) }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        if case .failure(let error)? = verdict { throw error }
        if endStream { peerEnded(stream) }
        return .head(stream: stream, .response(status: status, fields), endStream: endStream)
    }

    private mutating func receiveTrailers(
        _ stream: UInt32, _ index: Int, _ endStream: Bool
    ) throws(HTTP2Error) -> HTTP2Event? {
        try checkFields(stream)
        guard endStream, !list.contains(.status), !hasRequestPseudoFields else {
            throw .stream(stream, .protocolError, "trailers that do not end the stream, or have pseudo-fields")
        }
        let verdict = streams.update(at: index) { value -> HTTP2Error? in
            do throws(HTTP2Error) {
                try value.checkEnd(stream)
                return nil
            } catch {
                return error
            }
        }
        if case .some(.some(let error)) = verdict { throw error }
        let fields = list.fields
        peerEnded(stream)
        return .trailers(stream: stream, fields)
    }

    private var hasRequestPseudoFields: Bool {
        list.contains(.method) || list.contains(.scheme) || list.contains(.authority) || list.contains(.path)
            || list.contains(.protocol)
    }

    /// Malformed messages (RFC 9113 §8.1.1). Space around a value breaks a rule, too, but real servers send it.
    private func checkFields(_ stream: UInt32) throws(HTTP2Error) {
        guard !list.exceedsLimits else {
            throw .stream(stream, .enhanceYourCalm, "fields of \(list.uncompressedBytes) bytes, or too many of them")
        }
        let malformation = list.malformation.subtracting(.whitespaceAroundValue)
        guard malformation.isEmpty else {
            throw .stream(stream, .protocolError, "malformed fields: \(malformation)")
        }
    }

    private func contentLength(_ fields: HTTPFields, _ stream: UInt32) throws(HTTP2Error) -> UInt64? {
        guard fields.contains(.contentLength) else { return nil }
        var lengths: Set<UInt64> = []
        var isNumber = true
        fields.forEachValue(of: .contentLength) { value in
            for part in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                let digits = String(decoding: part, as: UTF8.self).filter { $0 != " " }
                let isDigits = !digits.isEmpty && digits.utf8.allSatisfy { 0x30...0x39 ~= $0 }
                if isDigits, let length = UInt64(digits) { lengths.insert(length) } else { isNumber = false }
            }
        }
        guard isNumber, lengths.count == 1 else {
            throw .stream(stream, .protocolError, "a Content-Length that is not one number")
        }
        return lengths.first
    }
}

extension HTTP2Stream {
    mutating func receiveData(
        counted: Int, body: Int, _ endStream: Bool, _ stream: UInt32
    ) -> Result<Void, HTTP2Error> {
        do throws(HTTP2Error) {
            if case .halfClosedRemote = state {
                throw .stream(stream, .streamClosed, "DATA after the end of the message")
            }
            guard case .body = message else { throw .stream(stream, .protocolError, "DATA before the message's head") }
            guard receiving.receive(counted) else {
                throw .stream(stream, .flowControlError, "more DATA than the stream's window allows")
            }
            if let expectedBytes {
                guard body <= expectedBytes else {
                    throw .stream(stream, .protocolError, "more DATA than Content-Length says")
                }
                self.expectedBytes = expectedBytes - UInt64(body)
            }
            if endStream { try checkEnd(stream) }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    func checkEnd(_ stream: UInt32) throws(HTTP2Error) {
        if let expectedBytes, expectedBytes > 0 {
            throw .stream(stream, .protocolError, "an end \(expectedBytes) bytes before what Content-Length says")
        }
    }
}
