/// Writes frames behind what is there already (RFC 9113 §6).
public enum HTTP2FrameWriter {
    /// The header of a DATA frame whose payload, of so many bytes, comes next; with its padding's length, and the
    /// padding to come after it, where there is any.
    public static func data(
        stream: UInt32, count: Int, endStream: Bool, padding: Int? = nil, into output: inout [UInt8]
    ) {
        var flags: HTTP2FrameFlags = endStream ? .endStream : []
        if padding != nil { flags.insert(.padded) }
        let length = count + (padding.map { $0 + 1 } ?? 0)
        HTTP2FrameHeader(length: length, type: .data, flags: flags, stream: stream).write(into: &output)
        if let padding { output.append(UInt8(truncatingIfNeeded: padding)) }
    }

    /// A header block, in HEADERS and as many CONTINUATION as it takes.
    public static func headers(
        stream: UInt32, block: some Collection<UInt8>, endStream: Bool, dependency: HTTP2Frame.Dependency? = nil,
        padding: [UInt8]? = nil, maximumFrameSize: Int = 16_384, into output: inout [UInt8]
    ) {
        var flags: HTTP2FrameFlags = endStream ? .endStream : []
        if dependency != nil { flags.insert(.priority) }
        if padding != nil { flags.insert(.padded) }
        let others = (dependency == nil ? 0 : 5) + (padding.map { $0.count + 1 } ?? 0)
        let first = block.prefix(max(0, maximumFrameSize - others))
        if first.count == block.count { flags.insert(.endHeaders) }
        HTTP2FrameHeader(length: first.count + others, type: .headers, flags: flags, stream: stream)
            .write(into: &output)
        if let padding { output.append(UInt8(truncatingIfNeeded: padding.count)) }
        if let dependency { write(dependency, into: &output) }
        output.append(contentsOf: first)
        if let padding { output.append(contentsOf: padding) }
        continuations(stream: stream, block.dropFirst(first.count), maximumFrameSize, into: &output)
    }

    private static func continuations(
        stream: UInt32, _ block: some Collection<UInt8>, _ maximumFrameSize: Int, into output: inout [UInt8]
    ) {
        var rest = block[...]
        while !rest.isEmpty {
            let piece = rest.prefix(maximumFrameSize)
            rest = rest.dropFirst(piece.count)
            continuation(stream: stream, block: piece, endHeaders: rest.isEmpty, into: &output)
        }
    }

    /// One CONTINUATION.
    public static func continuation(
        stream: UInt32, block: some Collection<UInt8>, endHeaders: Bool, into output: inout [UInt8]
    ) {
        HTTP2FrameHeader(
            length: block.count, type: .continuation, flags: endHeaders ? .endHeaders : [], stream: stream
        ).write(into: &output)
        output.append(contentsOf: block)
    }

    /// PRIORITY.
    public static func priority(
        stream: UInt32, _ dependency: HTTP2Frame.Dependency, into output: inout [UInt8]
    ) {
        HTTP2FrameHeader(length: 5, type: .priority, stream: stream).write(into: &output)
        write(dependency, into: &output)
    }

    private static func write(_ dependency: HTTP2Frame.Dependency, into output: inout [UInt8]) {
        output.appendUInt32(dependency.stream & 0x7FFF_FFFF | (dependency.isExclusive ? 0x8000_0000 : 0))
        output.append(UInt8(truncatingIfNeeded: dependency.weight - 1))
    }

    /// RST_STREAM.
    public static func reset(stream: UInt32, _ code: HTTP2ErrorCode, into output: inout [UInt8]) {
        HTTP2FrameHeader(length: 4, type: .reset, stream: stream).write(into: &output)
        output.appendUInt32(code.rawValue)
    }

    /// SETTINGS.
    public static func settings(_ settings: [HTTP2Setting], into output: inout [UInt8]) {
        HTTP2FrameHeader(length: settings.count * 6, type: .settings, stream: 0).write(into: &output)
        for setting in settings {
            output.appendUInt16(setting.identifier)
            output.appendUInt32(setting.value)
        }
    }

    /// SETTINGS with ACK.
    public static func settingsAcknowledgement(into output: inout [UInt8]) {
        HTTP2FrameHeader(length: 0, type: .settings, flags: .acknowledgement, stream: 0).write(into: &output)
    }

    /// PUSH_PROMISE in one frame.
    public static func pushPromise(
        stream: UInt32, promised: UInt32, block: [UInt8], padding: [UInt8]? = nil, into output: inout [UInt8]
    ) {
        let flags: HTTP2FrameFlags = padding == nil ? .endHeaders : [.endHeaders, .padded]
        let length = 4 + block.count + (padding.map { $0.count + 1 } ?? 0)
        HTTP2FrameHeader(length: length, type: .pushPromise, flags: flags, stream: stream).write(into: &output)
        if let padding { output.append(UInt8(truncatingIfNeeded: padding.count)) }
        output.appendUInt32(promised)
        output.append(contentsOf: block)
        if let padding { output.append(contentsOf: padding) }
    }

    /// PING.
    public static func ping(_ value: UInt64, isAcknowledgement: Bool = false, into output: inout [UInt8]) {
        HTTP2FrameHeader(length: 8, type: .ping, flags: isAcknowledgement ? .acknowledgement : [], stream: 0)
            .write(into: &output)
        output.appendUInt32(UInt32(truncatingIfNeeded: value >> 32))
        output.appendUInt32(UInt32(truncatingIfNeeded: value))
    }

    /// GOAWAY.
    public static func goAway(
        lastStream: UInt32, _ code: HTTP2ErrorCode, debugData: [UInt8] = [], into output: inout [UInt8]
    ) {
        HTTP2FrameHeader(length: 8 + debugData.count, type: .goAway, stream: 0).write(into: &output)
        output.appendUInt32(lastStream)
        output.appendUInt32(code.rawValue)
        output.append(contentsOf: debugData)
    }

    /// WINDOW_UPDATE; stream 0 is the connection.
    public static func windowUpdate(stream: UInt32, increment: Int, into output: inout [UInt8]) {
        HTTP2FrameHeader(length: 4, type: .windowUpdate, stream: stream).write(into: &output)
        output.appendUInt32(UInt32(clamping: increment) & 0x7FFF_FFFF)
    }
}
