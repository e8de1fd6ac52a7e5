/// Takes frames off a stream of bytes that comes in any pieces (RFC 9113 §4, §6).
///
/// Bodies are not copied: a DATA frame is given as the pieces in which it comes. The other frames are short, and given
/// whole. CONTINUATION is put together with what it continues.
///
/// An error for a stream leaves the decoder behind the frame, so that it can go on. After one for the connection it
/// gives that same error for ever.
public struct HTTP2FrameDecoder: Sendable {
    /// What comes next.
    private enum State {
        case header
        /// A DATA frame's first byte, which says how many of its last are padding.
        case paddingLength(HTTP2FrameHeader)
        case data(DataFrame)
        /// The payload of any other frame.
        case payload(HTTP2FrameHeader)
        case failed(HTTP2Error)
    }

    private struct DataFrame {
        let stream: UInt32
        let endStream: Bool
        var body: Int
        var padding: Int
        /// Bytes that count for the windows though they are no body's: those before it.
        var counted: Int
        var isFirst = true
    }

    /// A header block that CONTINUATION goes on with.
    private struct OpenBlock {
        let stream: UInt32
        let promised: UInt32?
        let endStream: Bool
        let dependency: HTTP2Frame.Dependency?
        var bytes: [UInt8]
        var continuations = 0
    }

    /// The longest payload of a frame that is taken, in bytes: what SETTINGS told the peer. Default 16,384.
    public var maximumFrameSize = 16_384

    private let limits: HTTP2Limits
    private var state = State.header
    private var openBlock: OpenBlock?
    /// Bytes of a header or payload that came in several pieces; kept for the caller until the next call.
    private var kept: [UInt8] = []
    private var keptIsUsed = false

    /// A decoder at the beginning of a connection, behind the preface.
    public init(limits: HTTP2Limits = HTTP2Limits()) { self.limits = limits }

    /// Takes the next frame, or piece of a DATA frame, from `input`, beginning at `position`, which moves behind it.
    /// Nil when more input is needed; all of `input` has been taken then.
    public mutating func next(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP2Error) -> HTTP2Frame? {
        while true {
            forgetUsed()
            do throws(HTTP2Error) {
                switch state {
                case .header:
                    guard let header = takeHeader(input, &position) else { return nil }
                    try begin(header)
                case .paddingLength(let header):
                    guard position < input.count else { return nil }
                    let padding = Int(input[position])
                    position += 1
                    state = .data(try Self.dataFrame(header, padding: padding))
                case .data(let frame):
                    guard let piece = takeData(frame, input, &position) else { return nil }
                    return piece
                case .payload(let header):
                    guard let bytes = takePayload(header.length, input, &position) else { return nil }
                    state = .header
                    if let frame = try read(header, bytes, input) { return frame }
                case .failed(let error):
                    throw error
                }
            } catch {
                if case .connection = error.scope { state = .failed(error) }
                throw error
            }
        }
    }

    /// A payload that was kept is done with once its frame was given, or has none to give.
    private mutating func forgetUsed() {
        guard keptIsUsed else { return }
        kept.removeAll(keepingCapacity: true)
        keptIsUsed = false
    }

    /// Calls `body` with bytes of the frame that was given last. `input` is what was given with it.
    public func withBytes<Result>(
        _ bytes: HTTP2Frame.Bytes, of input: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        switch bytes {
        case .input(let range): try body(UnsafeRawBufferPointer(rebasing: input[range]))
        case .kept(let range): try kept.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
    }

    // MARK: Headers

    private mutating func takeHeader(_ input: UnsafeRawBufferPointer, _ position: inout Int) -> HTTP2FrameHeader? {
        let size = HTTP2FrameHeader.size
        if kept.isEmpty, input.count - position >= size {
            defer { position += size }
            return HTTP2FrameHeader(UnsafeRawBufferPointer(rebasing: input[position...]))
        }
        guard fill(upTo: size, input, &position) else { return nil }
        defer { kept.removeAll(keepingCapacity: true) }
        return kept.withUnsafeBytes { HTTP2FrameHeader($0) }
    }

    private mutating func begin(_ header: HTTP2FrameHeader) throws(HTTP2Error) {
        guard header.length <= maximumFrameSize else {
            throw .connection(.frameSizeError, "a frame of \(header.length) bytes; \(maximumFrameSize) are taken")
        }
        let type = HTTP2FrameType(rawValue: header.type)
        if let openBlock {
            guard type == .continuation, header.stream == openBlock.stream else {
                throw .connection(.protocolError, "a header block was not continued, but another frame sent")
            }
        }
        guard let type else {
            state = .payload(header)
            return
        }
        try Self.check(header, type, continues: openBlock != nil)
        switch type {
        case .data where header.flags.contains(.padded): state = .paddingLength(header)
        case .data: state = .data(try Self.dataFrame(header, padding: nil))
        case .headers, .priority, .reset, .settings, .pushPromise, .ping, .goAway, .windowUpdate, .continuation:
            state = .payload(header)
        }
    }

    /// Which streams and lengths a type of frame can have, before any of its payload is taken.
    private static func check(
        _ header: HTTP2FrameHeader, _ type: HTTP2FrameType, continues: Bool
    ) throws(HTTP2Error) {
        switch type {
        case .data, .headers, .priority, .reset, .pushPromise, .continuation:
            guard header.stream != 0 else {
                throw .connection(.protocolError, "a \(type) frame that is of no stream")
            }
        case .settings, .ping, .goAway:
            guard header.stream == 0 else {
                throw .connection(.protocolError, "a \(type) frame of stream \(header.stream)")
            }
        case .windowUpdate: break
        }
        if type == .continuation, !continues {
            throw .connection(.protocolError, "CONTINUATION without a header block before it")
        }
        guard isPossible(header, type) else {
            throw .connection(.frameSizeError, "a \(type) frame of \(header.length) bytes")
        }
    }

    private static func isPossible(_ header: HTTP2FrameHeader, _ type: HTTP2FrameType) -> Bool {
        let padding = header.flags.contains(.padded) ? 1 : 0
        return switch type {
        case .data: header.length >= padding
        case .headers: header.length >= padding + (header.flags.contains(.priority) ? 5 : 0)
        case .pushPromise: header.length >= padding + 4
        case .reset, .windowUpdate: header.length == 4
        case .settings: header.length % 6 == 0 && (header.length == 0 || !header.flags.contains(.acknowledgement))
        case .ping: header.length == 8
        case .goAway: header.length >= 8
        // An error of the stream alone: see `read`.
        case .priority: true
        case .continuation: true
        }
    }

    // MARK: Payloads

    /// Moves bytes of the input to the kept ones until there are so many of those.
    private mutating func fill(upTo count: Int, _ input: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
        let taken = min(count - kept.count, input.count - position)
        kept.append(contentsOf: input[position..<position + taken])
        position += taken
        return kept.count == count
    }

    private mutating func takePayload(
        _ length: Int, _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) -> HTTP2Frame.Bytes? {
        if kept.isEmpty, input.count - position >= length {
            defer { position += length }
            return .input(position..<position + length)
        }
        guard fill(upTo: length, input, &position) else { return nil }
        keptIsUsed = true
        return .kept(0..<length)
    }

    private static func dataFrame(_ header: HTTP2FrameHeader, padding: Int?) throws(HTTP2Error) -> DataFrame {
        let before = padding == nil ? 0 : 1
        let body = header.length - before - (padding ?? 0)
        guard body >= 0 else { throw .connection(.protocolError, "a DATA frame with more padding than it has bytes") }
        return DataFrame(
            stream: header.stream, endStream: header.flags.contains(.endStream), body: body, padding: padding ?? 0,
            counted: before)
    }

    private mutating func takeData(
        _ frame: DataFrame, _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) -> HTTP2Frame? {
        var frame = frame
        let available = input.count - position
        guard available > 0 || frame.body + frame.padding == 0 else { return nil }
        let start = position
        let body = min(frame.body, available)
        let padding = body == frame.body ? min(frame.padding, available - body) : 0
        position += body + padding
        let counted = frame.counted + body + padding
        let isFirst = frame.isFirst
        frame.body -= body
        frame.padding -= padding
        frame.counted = 0
        frame.isFirst = false
        let isLast = frame.body + frame.padding == 0
        state = isLast ? .header : .data(frame)
        return .data(
            stream: frame.stream, bytes: start..<start + body, counted: counted, isFirst: isFirst, isLast: isLast,
            endStream: isLast && frame.endStream)
    }

    // MARK: Reading

    private mutating func read(
        _ header: HTTP2FrameHeader, _ bytes: HTTP2Frame.Bytes, _ input: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> HTTP2Frame? {
        guard let type = HTTP2FrameType(rawValue: header.type) else {
            return .unknown(type: header.type, stream: header.stream)
        }
        switch type {
        case .data: return nil
        case .headers: return try readHeaders(header, bytes, input)
        case .pushPromise: return try readPushPromise(header, bytes, input)
        case .continuation: return try readContinuation(header, bytes, input)
        case .priority:
            guard header.length == 5 else {
                throw .stream(header.stream, .frameSizeError, "a PRIORITY frame of \(header.length) bytes")
            }
            return .priority(stream: header.stream, withBytes(bytes, of: input) { Self.dependency($0, at: 0) })
        case .reset:
            return .reset(stream: header.stream, HTTP2ErrorCode(rawValue: number(bytes, input)))
        case .settings: return try readSettings(header, bytes, input)
        case .ping:
            let value = withBytes(bytes, of: input) { $0.loadUnaligned(as: UInt64.self).bigEndian }
            return .ping(value, isAcknowledgement: header.flags.contains(.acknowledgement))
        case .goAway:
            let (last, code) = withBytes(bytes, of: input) {
                ($0.bigEndianUInt32(at: 0) & 0x7FFF_FFFF, HTTP2ErrorCode(rawValue: $0.bigEndianUInt32(at: 4)))
            }
            return .goAway(lastStream: last, code, debugData: bytes.dropFirst(8))
        case .windowUpdate: return try readWindowUpdate(header.stream, number(bytes, input))
        }
    }

    private func number(_ bytes: HTTP2Frame.Bytes, _ input: UnsafeRawBufferPointer) -> UInt32 {
        withBytes(bytes, of: input) { $0.bigEndianUInt32(at: 0) }
    }

    private func readWindowUpdate(_ stream: UInt32, _ number: UInt32) throws(HTTP2Error) -> HTTP2Frame {
        let increment = Int(number & 0x7FFF_FFFF)
        guard increment > 0 else {
            let scope = stream == 0 ? HTTP2Error.Scope.connection : .stream(stream)
            throw HTTP2Error(scope, .protocolError, "WINDOW_UPDATE by nothing")
        }
        return .windowUpdate(stream: stream, increment: increment)
    }

    private func readSettings(
        _ header: HTTP2FrameHeader, _ bytes: HTTP2Frame.Bytes, _ input: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> HTTP2Frame {
        if header.flags.contains(.acknowledgement) { return .settingsAcknowledgement }
        guard header.length / 6 <= limits.settingsParameters else {
            throw .connection(.enhanceYourCalm, "SETTINGS of \(header.length / 6) parameters")
        }
        let settings = withBytes(bytes, of: input) { bytes in
            stride(from: 0, to: header.length, by: 6).map {
                HTTP2Setting(bytes.bigEndianUInt16(at: $0), bytes.bigEndianUInt32(at: $0 + 2))
            }
        }
        return .settings(settings)
    }

    private static func dependency(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> HTTP2Frame.Dependency {
        let number = bytes.bigEndianUInt32(at: offset)
        return HTTP2Frame.Dependency(
            stream: number & 0x7FFF_FFFF, weight: Int(bytes[offset + 4]) + 1, isExclusive: number >> 31 == 1)
    }

    // MARK: Header blocks

    private mutating func readHeaders(
        _ header: HTTP2FrameHeader, _ bytes: HTTP2Frame.Bytes, _ input: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> HTTP2Frame? {
        let hasDependency = header.flags.contains(.priority)
        let (padding, dependency) = withBytes(bytes, of: input) { bytes in
            let padding = header.flags.contains(.padded) ? Int(bytes[0]) : nil
            let dependency = hasDependency ? Self.dependency(bytes, at: padding == nil ? 0 : 1) : nil
            return (padding, dependency)
        }
        let before = (padding == nil ? 0 : 1) + (hasDependency ? 5 : 0)
        let block = try Self.block(of: bytes, from: before, padding: padding ?? 0)
        let endStream = header.flags.contains(.endStream)
        if header.flags.contains(.endHeaders) {
            return .headers(stream: header.stream, block: block, endStream: endStream, dependency)
        }
        openBlock = OpenBlock(
            stream: header.stream, promised: nil, endStream: endStream, dependency: dependency,
            bytes: withBytes(block, of: input) { Array($0) })
        return nil
    }

    private mutating func readPushPromise(
        _ header: HTTP2FrameHeader, _ bytes: HTTP2Frame.Bytes, _ input: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> HTTP2Frame? {
        let (padding, promised) = withBytes(bytes, of: input) { bytes in
            let padding = header.flags.contains(.padded) ? Int(bytes[0]) : nil
            return (padding, bytes.bigEndianUInt32(at: padding == nil ? 0 : 1) & 0x7FFF_FFFF)
        }
        guard promised != 0, promised % 2 == 0 else {
            throw .connection(.protocolError, "PUSH_PROMISE of stream \(promised), which is no server's")
        }
        let block = try Self.block(of: bytes, from: padding == nil ? 4 : 5, padding: padding ?? 0)
        if header.flags.contains(.endHeaders) {
            return .pushPromise(stream: header.stream, promised: promised, block: block)
        }
        openBlock = OpenBlock(
            stream: header.stream, promised: promised, endStream: false, dependency: nil,
            bytes: withBytes(block, of: input) { Array($0) })
        return nil
    }

    private static func block(
        of bytes: HTTP2Frame.Bytes, from start: Int, padding: Int
    ) throws(HTTP2Error) -> HTTP2Frame.Bytes {
        guard padding <= bytes.range.count - start else {
            throw .connection(.protocolError, "a header block with more padding than it has bytes")
        }
        return bytes.dropFirst(start).dropLast(padding)
    }

    private mutating func readContinuation(
        _ header: HTTP2FrameHeader, _ bytes: HTTP2Frame.Bytes, _ input: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> HTTP2Frame? {
        guard var block = openBlock else { return nil }
        openBlock = nil
        block.continuations += 1
        guard block.continuations <= limits.continuations,
            block.bytes.count + header.length <= limits.headerBlockBytes
        else {
            throw .connection(.enhanceYourCalm, "a header block that does not end")
        }
        withBytes(bytes, of: input) { block.bytes.append(contentsOf: $0) }
        guard header.flags.contains(.endHeaders) else {
            openBlock = block
            return nil
        }
        kept = block.bytes
        keptIsUsed = true
        let all = HTTP2Frame.Bytes.kept(0..<kept.count)
        if let promised = block.promised {
            return .pushPromise(stream: block.stream, promised: promised, block: all)
        }
        return .headers(stream: block.stream, block: all, endStream: block.endStream, block.dependency)
    }
}

extension HTTP2Frame.Bytes {
    var range: Range<Int> {
        switch self {
        case .input(let range), .kept(let range): range
        }
    }

    func dropFirst(_ count: Int) -> Self {
        switch self {
        case .input(let range): .input(range.lowerBound + count..<range.upperBound)
        case .kept(let range): .kept(range.lowerBound + count..<range.upperBound)
        }
    }

    func dropLast(_ count: Int) -> Self {
        switch self {
        case .input(let range): .input(range.lowerBound..<range.upperBound - count)
        case .kept(let range): .kept(range.lowerBound..<range.upperBound - count)
        }
    }
}
