/// Writes frames (RFC 9113 §4 and §6).
///
/// Only conditions that would break the framing are checked here; ``HTTP2ConnectionStateMachine`` enforces the rules. A
/// payload has at most 2²⁴ - 1 bytes; a longer one is a programming error.
public enum HTTP2FrameEncoder {
    /// Appends the nine bytes before a payload.
    @inline(__always)
    private static func appendHeader(
        _ type: FrameType, length: Int, flags: UInt8 = 0, stream: HTTP2StreamID, to output: inout [UInt8]
    ) {
        precondition(length <= 0xff_ffff, "a frame's payload has at most 2^24 - 1 bytes")
        // The bytes are appended together, as each append costs more than its bytes.
        let word = UInt64(length) << 40 | UInt64(type.rawValue) << 32 | UInt64(flags) << 24
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { bytes in
            bytes.storeBytes(of: word.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: stream.rawValue.bigEndian, toByteOffset: 5, as: UInt32.self)
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<9]))
        }
    }

    @inline(__always)
    private static func append(_ word: some FixedWidthInteger, to output: inout [UInt8]) {
        withUnsafeBytes(of: word.bigEndian) { output.append(contentsOf: $0) }
    }

    /// Appends the header of a DATA frame. The caller sends the payload of `length` bytes next.
    public static func dataHeader(
        length: Int, stream: HTTP2StreamID, endStream: Bool, to output: inout [UInt8]
    ) {
        appendHeader(
            .data, length: length, flags: endStream ? FrameFlags.endStream : 0, stream: stream, to: &output)
    }

    /// Appends a DATA frame, with padding of `padding` zeros (at most 255) if it is not nil.
    public static func data(
        _ payload: UnsafeRawBufferPointer, stream: HTTP2StreamID, endStream: Bool, padding: UInt8? = nil,
        to output: inout [UInt8]
    ) {
        let overhead = padding.map { Int($0) + 1 } ?? 0
        let flags = (endStream ? FrameFlags.endStream : 0) | (padding == nil ? 0 : FrameFlags.padded)
        appendHeader(.data, length: payload.count + overhead, flags: flags, stream: stream, to: &output)
        appendPadded(payload, padding, to: &output)
    }

    private static func appendPadded(
        _ payload: UnsafeRawBufferPointer, _ padding: UInt8?, priority: HTTP2Priority? = nil, to output: inout [UInt8]
    ) {
        if let padding { output.append(padding) }
        if let priority { append(priority, to: &output) }
        output.append(contentsOf: payload)
        if let padding { output.append(contentsOf: repeatElement(0, count: Int(padding))) }
    }

    private static func append(_ priority: HTTP2Priority, to output: inout [UInt8]) {
        append(priority.dependency.rawValue | (priority.isExclusive ? 1 << 31 : 0), to: &output)
        output.append(UInt8(clamping: priority.weight - 1))
    }

    /// Appends a header block as one HEADERS frame and the CONTINUATION frames that it needs.
    public static func headers(
        _ block: UnsafeRawBufferPointer, stream: HTTP2StreamID, endStream: Bool, priority: HTTP2Priority? = nil,
        padding: UInt8? = nil, maxFrameSize: Int = 16384, to output: inout [UInt8]
    ) {
        let overhead = (padding.map { Int($0) + 1 } ?? 0) + (priority == nil ? 0 : 5)
        let first = min(block.count, max(0, maxFrameSize - overhead))
        var flags = endStream ? FrameFlags.endStream : 0
        if padding != nil { flags |= FrameFlags.padded }
        if priority != nil { flags |= FrameFlags.priority }
        if first == block.count { flags |= FrameFlags.endHeaders }
        appendHeader(.headers, length: first + overhead, flags: flags, stream: stream, to: &output)
        appendPadded(
            UnsafeRawBufferPointer(rebasing: block[..<first]), padding, priority: priority, to: &output)
        continuations(block, from: first, stream: stream, maxFrameSize: maxFrameSize, to: &output)
    }

    private static func continuations(
        _ block: UnsafeRawBufferPointer, from start: Int, stream: HTTP2StreamID, maxFrameSize: Int,
        to output: inout [UInt8]
    ) {
        var sent = start
        while sent < block.count {
            let end = min(block.count, sent + max(1, maxFrameSize))
            continuation(
                UnsafeRawBufferPointer(rebasing: block[sent..<end]), stream: stream, endHeaders: end == block.count,
                to: &output)
            sent = end
        }
    }

    /// Appends one CONTINUATION frame.
    public static func continuation(
        _ fragment: UnsafeRawBufferPointer, stream: HTTP2StreamID, endHeaders: Bool, to output: inout [UInt8]
    ) {
        appendHeader(
            .continuation, length: fragment.count, flags: endHeaders ? FrameFlags.endHeaders : 0, stream: stream,
            to: &output)
        output.append(contentsOf: fragment)
    }

    /// Appends a PUSH_PROMISE frame with a whole header block.
    public static func pushPromise(
        _ block: UnsafeRawBufferPointer, promised: HTTP2StreamID, stream: HTTP2StreamID, padding: UInt8? = nil,
        to output: inout [UInt8]
    ) {
        let overhead = 4 + (padding.map { Int($0) + 1 } ?? 0)
        let flags = FrameFlags.endHeaders | (padding == nil ? 0 : FrameFlags.padded)
        appendHeader(.pushPromise, length: block.count + overhead, flags: flags, stream: stream, to: &output)
        if let padding { output.append(padding) }
        append(promised.rawValue, to: &output)
        appendPadded(block, nil, to: &output)
        if let padding { output.append(contentsOf: repeatElement(0, count: Int(padding))) }
    }

    /// Appends a PRIORITY frame, which is deprecated (RFC 9113 §5.3.2).
    public static func priority(_ priority: HTTP2Priority, stream: HTTP2StreamID, to output: inout [UInt8]) {
        appendHeader(.priority, length: 5, stream: stream, to: &output)
        append(priority, to: &output)
    }

    /// Appends a RST_STREAM frame.
    public static func resetStream(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode, to output: inout [UInt8]) {
        appendHeader(.resetStream, length: 4, stream: stream, to: &output)
        append(code.rawValue, to: &output)
    }

    /// Appends a SETTINGS frame.
    public static func settings(_ settings: [HTTP2Setting], to output: inout [UInt8]) {
        appendHeader(.settings, length: settings.count * 6, stream: .connection, to: &output)
        for setting in settings {
            append(setting.identifier.rawValue, to: &output)
            append(setting.value, to: &output)
        }
    }

    /// Appends a SETTINGS frame with ACK.
    public static func settingsAcknowledgement(to output: inout [UInt8]) {
        appendHeader(.settings, length: 0, flags: FrameFlags.acknowledgement, stream: .connection, to: &output)
    }

    /// Appends a PING frame with eight bytes of the sender's choice.
    public static func ping(_ opaque: UInt64, isAcknowledgement: Bool = false, to output: inout [UInt8]) {
        let flags = isAcknowledgement ? FrameFlags.acknowledgement : 0
        appendHeader(.ping, length: 8, flags: flags, stream: .connection, to: &output)
        append(opaque, to: &output)
    }

    /// Appends a GOAWAY frame.
    public static func goAway(
        lastStream: HTTP2StreamID, _ code: HTTP2ErrorCode, debugData: [UInt8] = [], to output: inout [UInt8]
    ) {
        appendHeader(.goAway, length: 8 + debugData.count, stream: .connection, to: &output)
        append(lastStream.rawValue, to: &output)
        append(code.rawValue, to: &output)
        output.append(contentsOf: debugData)
    }

    /// Appends a WINDOW_UPDATE frame. Stream 0 stands for the connection's window.
    public static func windowUpdate(_ stream: HTTP2StreamID, increment: UInt32, to output: inout [UInt8]) {
        appendHeader(.windowUpdate, length: 4, stream: stream, to: &output)
        append(increment & 0x7fff_ffff, to: &output)
    }
}
