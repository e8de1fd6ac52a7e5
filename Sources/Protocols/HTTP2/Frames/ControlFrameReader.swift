/// Reads the frames that carry neither bodies nor header fields (RFC 9113 §6.3 to §6.9). The decoder has checked the
/// length of the payload where it decides over the connection.
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
            // §6.9: of the stream, or of the connection where it is the connection's window.
            throw HTTP2Error(.zeroIncrement, header.stream == .connection ? .connection : .stream(header.stream))
        }
        return .windowUpdate(stream: header.stream, increment: increment)
    }
}
