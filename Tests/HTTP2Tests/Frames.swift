import LoadingKitHTTP2

/// Frames as a table of cases has them, short to write.
enum Frames {
    /// A frame with any header and payload.
    static func raw(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        Bytes.frame(type: type, flags: flags, stream: stream, payload)
    }

    static func settings(_ settings: [HTTP2Setting] = []) -> [UInt8] {
        Bytes.written { HTTP2FrameEncoder.settings(settings, to: &$0) }
    }

    static func headers(_ stream: UInt32, _ fields: [(String, String)], end: Bool = false) -> [UInt8] {
        headersFrame(stream, endStream: end, block(fields))
    }

    static func data(_ stream: UInt32, _ text: String, end: Bool = false) -> [UInt8] {
        raw(0, flags: end ? 1 : 0, stream: stream, Array(text.utf8))
    }

    static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
}
