/// Reads frames from bytes that arrive in pieces of any size (RFC 9113 §4).
///
/// A frame that is complete in one input is read in place. For other frames, the header and the payload are assembled
/// in a buffer, except DATA, which is returned in the arriving pieces, and unknown types, which are skipped. The memory
/// is limited by ``maxFrameSize`` and ``HTTP2Limits/headerListBytes``.
public struct HTTP2FrameDecoder: Sendable {
    /// The longest payload to accept: this side's SETTINGS_MAX_FRAME_SIZE.
    public var maxFrameSize: Int = 16384

    enum State {
        /// Before a frame. `buffer` contains the first bytes of its header, if any have arrived.
        case header
        /// In a frame that must be complete before it is read. `buffer` contains the first bytes of its payload.
        case payload(FrameHeader)
        /// Before the first byte of a padded DATA frame, which contains the length of the padding.
        case padLength(FrameHeader)
        /// In a DATA frame.
        case data(DataFrame)
        /// In a frame of an unknown type, of which `remaining` bytes have not arrived.
        case skipping(FrameHeader, remaining: Int)
        /// After a connection error.
        case failed(HTTP2Error)
    }

    /// A DATA frame that has begun.
    struct DataFrame {
        var header: FrameHeader
        /// The numbers of payload and padding bytes that have not arrived.
        var payload: Int
        var padding: Int
        /// 1 while the byte with the padding's length has not been counted; otherwise 0.
        var overhead: Int
        var hasBegun = false
    }

    /// A header block whose END_HEADERS has not arrived (§4.3).
    struct OpenBlock {
        enum Kind {
            case headers(endStream: Bool, HTTP2Priority?)
            case pushPromise(HTTP2StreamID)
        }
        var kind: Kind
        var stream: HTTP2StreamID
        var continuations = 0
    }

    let limits: HTTP2Limits
    private(set) var state = State.header
    /// The beginning of a frame's header or payload.
    private var buffer: [UInt8] = []
    private var openBlock: OpenBlock?
    /// The bytes of the open block, or of the block that the last call returned.
    private var block: [UInt8] = []

    /// Makes a decoder at the start of a frame.
    public init(limits: HTTP2Limits = HTTP2Limits()) { self.limits = limits }

    /// Reads `input` from `position`, which is advanced, until there is a frame or a piece of DATA.
    ///
    /// Nil means that all of the input was read. An error with the scope of a stream ends only this stream, and reading
    /// may continue. An error with the scope of the connection is thrown again by each further call.
    public mutating func next(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP2Error) -> HTTP2Frame? {
        do throws(HTTP2Error) {
            return try advance(input, &position)
        } catch {
            if error.scope == .connection { state = .failed(error) }
            throw error
        }
    }

    private mutating func advance(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP2Error) -> HTTP2Frame? {
        while true {
            switch state {
            case .header:
                guard let header = readHeader(input, &position) else { return nil }
                try begin(header)
            case .payload(let header):
                guard let payload = readPayload(header.length, input, &position) else { return nil }
                state = .header
                if let frame = try readFrame(header, payload, input) { return frame }
            case .padLength(let header):
                guard position < input.count else { return nil }
                let padding = Int(input[position])
                // §6.1: the padding must be shorter than the payload.
                guard padding < header.length else { throw HTTP2Error(.paddingTooLong) }
                position += 1
                state = .data(
                    DataFrame(header: header, payload: header.length - 1 - padding, padding: padding, overhead: 1))
            case .data(var data):
                return readFragment(&data, input, &position)
            case .skipping(let header, let remaining):
                let count = min(remaining, input.count - position)
                position += count
                guard count == remaining else {
                    state = .skipping(header, remaining: remaining - count)
                    return nil
                }
                state = .header
                return .unknown(type: header.type, stream: header.stream)
            case .failed(let error): throw error
            }
        }
    }

    /// Reads the next header, directly from the input if it is complete there.
    @inline(__always)
    private mutating func readHeader(_ input: UnsafeRawBufferPointer, _ position: inout Int) -> FrameHeader? {
        if buffer.isEmpty, input.count - position >= FrameHeader.size {
            defer { position += FrameHeader.size }
            return FrameHeader(input, at: position)
        }
        guard gather(FrameHeader.size, input, &position) else { return nil }
        defer { buffer.removeAll(keepingCapacity: true) }
        return buffer.withUnsafeBytes { FrameHeader($0, at: 0) }
    }

    /// A complete payload: in the input, or in `buffer`.
    private enum Payload {
        case input(Range<Int>)
        case buffer
    }

    private mutating func readPayload(
        _ length: Int, _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) -> Payload? {
        if buffer.isEmpty, input.count - position >= length {
            defer { position += length }
            return .input(position..<position + length)
        }
        return gather(length, input, &position) ? .buffer : nil
    }

    /// Fills `buffer` up to `count` bytes. Returns false if the input ends before.
    private mutating func gather(_ count: Int, _ input: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
        let taken = min(count - buffer.count, input.count - position)
        buffer.append(contentsOf: input[position..<position + taken])
        position += taken
        return buffer.count == count
    }

    /// Checks a frame by its header only.
    private mutating func begin(_ header: FrameHeader) throws(HTTP2Error) {
        guard header.length <= maxFrameSize else { throw HTTP2Error(.frameTooLarge) }
        let type = FrameType(rawValue: header.type)
        if let openBlock {
            guard type == .continuation, header.stream == openBlock.stream else {
                throw HTTP2Error(.blockInterrupted)
            }
        }
        guard let type else { return state = .skipping(header, remaining: header.length) }
        switch type {
        case .data:
            guard header.stream != .connection else { throw HTTP2Error(.streamRequired) }
            try beginData(header)
        case .headers, .pushPromise, .continuation, .priority, .resetStream:
            guard header.stream != .connection else { throw HTTP2Error(.streamRequired) }
            state = .payload(header)
        case .settings, .ping, .goAway:
            guard header.stream == .connection else { throw HTTP2Error(.connectionFrameOnStream) }
            state = .payload(header)
        case .windowUpdate: state = .payload(header)
        }
        try checkLength(header, type)
    }

    private func checkLength(_ header: FrameHeader, _ type: FrameType) throws(HTTP2Error) {
        let isValid =
            switch type {
            case .data, .headers, .continuation, .pushPromise: true
            // §6.3: a wrong length is a stream error, thrown when the frame is complete.
            case .priority: true
            case .resetStream, .windowUpdate: header.length == 4
            case .settings:
                header.has(FrameFlags.acknowledgement) ? header.length == 0 : header.length % 6 == 0
            case .ping: header.length == 8
            case .goAway: header.length >= 8
            }
        guard isValid else { throw HTTP2Error(.frameSize) }
    }

    private mutating func beginData(_ header: FrameHeader) throws(HTTP2Error) {
        guard header.has(FrameFlags.padded) else {
            return state = .data(DataFrame(header: header, payload: header.length, padding: 0, overhead: 0))
        }
        guard header.length > 0 else { throw HTTP2Error(.frameSize) }
        state = .padLength(header)
    }

    /// Returns the part of a DATA frame that the input contains.
    @inline(__always)
    private mutating func readFragment(
        _ data: inout DataFrame, _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) -> HTTP2Frame? {
        let available = input.count - position
        let payload = min(data.payload, available)
        let padding = min(data.padding, available - payload)
        guard payload + padding > 0 || data.payload + data.padding == 0 else {
            state = .data(data)
            return nil
        }
        let isComplete = payload == data.payload && padding == data.padding
        let fragment = HTTP2DataFragment(
            stream: data.header.stream, payload: position..<position + payload,
            flowControlled: payload + padding + data.overhead,
            frameLength: data.hasBegun ? nil : data.header.length,
            endStream: isComplete && data.header.has(FrameFlags.endStream))
        position += payload + padding
        data.payload -= payload
        data.padding -= padding
        data.overhead = 0
        data.hasBegun = true
        state = isComplete ? .header : .data(data)
        return .data(fragment)
    }

    /// The rest of the DATA frame whose first piece was last returned, without padding, and whether the frame has
    /// END_STREAM; zero and false if the piece was the whole frame.
    var restOfData: (count: Int, endsStream: Bool) {
        guard case .data(let data) = state else { return (0, false) }
        return (data.payload, data.header.has(FrameFlags.endStream))
    }

    /// The stream of a header block that has begun and is not complete.
    var openHead: HTTP2StreamID? {
        if let openBlock { return openBlock.stream }
        guard case .payload(let header) = state, header.type == FrameType.headers.rawValue else { return nil }
        return header.stream
    }

    /// Reads a frame whose payload is complete. Returns nil for a part of a header block that is incomplete.
    private mutating func readFrame(
        _ header: FrameHeader, _ payload: Payload, _ input: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> HTTP2Frame? {
        switch payload {
        case .input(let range):
            return try parse(header, UnsafeRawBufferPointer(rebasing: input[range]), at: range.lowerBound)
        case .buffer:
            // The buffer is moved out, so that its memory can be read while this struct changes.
            var bytes: [UInt8] = []
            swap(&bytes, &buffer)
            let result = bytes.withUnsafeBytes { bytes -> Result<HTTP2Frame?, HTTP2Error> in
                Result { () throws(HTTP2Error) in try parse(header, bytes, at: nil) }
            }
            swap(&bytes, &buffer)
            buffer.removeAll(keepingCapacity: true)
            return try result.get()
        }
    }

    /// Parses a payload. `offset` is its offset in the input, if it is there.
    private mutating func parse(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, at offset: Int?
    ) throws(HTTP2Error) -> HTTP2Frame? {
        switch FrameType(rawValue: header.type) {
        case .headers: return try readHeaders(header, payload, at: offset)
        case .pushPromise: return try readPushPromise(header, payload, at: offset)
        case .continuation: return try readContinuation(header, payload)
        case .priority, .resetStream, .settings, .ping, .goAway, .windowUpdate, .data, nil:
            return try ControlFrameReader(header: header, payload: payload, limits: limits).read()
        }
    }

    private mutating func readHeaders(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, at offset: Int?
    ) throws(HTTP2Error) -> HTTP2Frame? {
        var range = try PayloadReader.withoutPadding(header, payload)
        var priority: HTTP2Priority?
        if header.has(FrameFlags.priority) {
            guard range.count >= 5 else { throw HTTP2Error(.frameSize) }
            priority = PayloadReader.priority(payload, at: range.lowerBound)
            range = range.lowerBound + 5..<range.upperBound
        }
        let open = OpenBlock(
            kind: .headers(endStream: header.has(FrameFlags.endStream), priority), stream: header.stream)
        return try beginBlock(open, header, payload, range, at: offset)
    }

    private mutating func readPushPromise(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, at offset: Int?
    ) throws(HTTP2Error) -> HTTP2Frame? {
        let range = try PayloadReader.withoutPadding(header, payload)
        guard range.count >= 4 else { throw HTTP2Error(.frameSize) }
        let promised = HTTP2StreamID(rawValue: PayloadReader.word(payload, at: range.lowerBound))
        // §5.1.1: a server's streams have even numbers.
        guard promised != .connection, !promised.isClientInitiated else { throw HTTP2Error(.badPromisedStream) }
        let open = OpenBlock(kind: .pushPromise(promised), stream: header.stream)
        return try beginBlock(open, header, payload, range.lowerBound + 4..<range.upperBound, at: offset)
    }

    private mutating func beginBlock(
        _ open: OpenBlock, _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ range: Range<Int>,
        at offset: Int?
    ) throws(HTTP2Error) -> HTTP2Frame? {
        guard range.count <= limits.headerListBytes else { throw HTTP2Error(.headerListTooLarge) }
        if header.has(FrameFlags.endHeaders), let offset {
            return Self.frame(open, .input(offset + range.lowerBound..<offset + range.upperBound))
        }
        block.removeAll(keepingCapacity: true)
        block.append(contentsOf: payload[range])
        if header.has(FrameFlags.endHeaders) { return Self.frame(open, .gathered) }
        openBlock = open
        return nil
    }

    private mutating func readContinuation(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> HTTP2Frame? {
        guard var open = openBlock else { throw HTTP2Error(.unexpectedContinuation) }
        open.continuations += 1
        guard open.continuations <= limits.continuationFrames else { throw HTTP2Error(.headerFragmentFlood) }
        guard block.count + payload.count <= limits.headerListBytes else { throw HTTP2Error(.headerListTooLarge) }
        block.append(contentsOf: payload)
        openBlock = header.has(FrameFlags.endHeaders) ? nil : open
        return header.has(FrameFlags.endHeaders) ? Self.frame(open, .gathered) : nil
    }

    private static func frame(_ open: OpenBlock, _ block: HTTP2HeaderBlock) -> HTTP2Frame {
        switch open.kind {
        case .headers(let endStream, let priority):
            .headers(stream: open.stream, endStream: endStream, priority: priority, block: block)
        case .pushPromise(let promised): .pushPromise(stream: open.stream, promised: promised, block: block)
        }
    }

    /// Calls `body` with the bytes of a block that the last call of ``next(_:_:)`` returned. `input` is the input of
    /// that call.
    public func withBytes<R>(
        of block: HTTP2HeaderBlock, input: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        switch block {
        case .input(let range):
            // A range of another input is the caller's error, and yields no bytes.
            guard range.upperBound <= input.count else {
                return try body(UnsafeRawBufferPointer(rebasing: input[0..<0]))
            }
            return try body(UnsafeRawBufferPointer(rebasing: input[range]))
        case .gathered: return try self.block.withUnsafeBytes(body)
        }
    }
}

/// Reads the frames that carry neither bodies nor header fields (RFC 9113 §6.3 to §6.9). The decoder has already
/// checked a payload length whose error would end the connection.
struct ControlFrameReader {
    var header: FrameHeader
    var payload: UnsafeRawBufferPointer
    var limits: HTTP2Limits

    func read() throws(HTTP2Error) -> HTTP2Frame? {
        switch FrameType(rawValue: header.type) {
        case .priority:
            guard payload.count == 5 else { throw HTTP2Error(.frameSize, .stream(header.stream)) }
            return .priority(stream: header.stream, PayloadReader.priority(payload, at: 0))
        case .resetStream:
            return .resetStream(
                stream: header.stream, HTTP2ErrorCode(rawValue: PayloadReader.word(payload, at: 0)))
        case .settings:
            return header.has(FrameFlags.acknowledgement) ? .settingsAcknowledgement : .settings(try settings())
        case .ping:
            let opaque = UInt64(bigEndian: payload.loadUnaligned(as: UInt64.self))
            return .ping(opaque, isAcknowledgement: header.has(FrameFlags.acknowledgement))
        case .goAway:
            return .goAway(
                lastStream: HTTP2StreamID(rawValue: PayloadReader.word(payload, at: 0)),
                HTTP2ErrorCode(rawValue: PayloadReader.word(payload, at: 4)),
                debugData: Array(payload.dropFirst(8).prefix(max(0, limits.debugDataBytes))))
        case .windowUpdate: return try windowUpdate()
        case .data, .headers, .pushPromise, .continuation, nil: return nil  // The decoder reads these itself.
        }
    }

    private func settings() throws(HTTP2Error) -> [HTTP2Setting] {
        let count = payload.count / 6
        guard count <= limits.settingsPerFrame else { throw HTTP2Error(.controlFlood) }
        return (0..<count).map { index in
            let identifier = UInt16(bigEndian: payload.loadUnaligned(fromByteOffset: index * 6, as: UInt16.self))
            return HTTP2Setting(
                HTTP2Setting.Identifier(rawValue: identifier), PayloadReader.word(payload, at: index * 6 + 2))
        }
    }

    private func windowUpdate() throws(HTTP2Error) -> HTTP2Frame {
        let increment = PayloadReader.word(payload, at: 0) & 0x7fff_ffff
        guard increment > 0 else {
            // §6.9: a stream error, or a connection error for the connection's window.
            throw HTTP2Error(.zeroIncrement, header.stream == .connection ? .connection : .stream(header.stream))
        }
        return .windowUpdate(stream: header.stream, increment: increment)
    }
}
