/// Describes the frames in one direction of a connection, for people who look for an error: their types, streams, flags
/// and lengths, without their contents.
public struct HTTP2FrameTrace: Sendable {
    /// The number of bytes left of the current frame, or of the preface.
    private var skipped: Int
    private var header: [UInt8] = []

    /// - Parameter isOfClient: whether the bytes are a client's, which begin with the preface.
    public init(isOfClient: Bool) { skipped = isOfClient ? HTTP2ConnectionStateMachine.preface.count : 0 }

    /// Returns a line for each frame that begins in these bytes. The bytes follow those of the previous call.
    public mutating func describe(_ bytes: UnsafeRawBufferPointer) -> [String] {
        var lines: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(skipped, rest.count)
            skipped -= count
            rest = rest.dropFirst(count)
            let more = rest.prefix(FrameHeader.size - header.count)
            header.append(contentsOf: more)
            rest = rest.dropFirst(more.count)
            guard header.count == FrameHeader.size else { break }
            let frame = header.withUnsafeBytes { FrameHeader($0, at: 0) }
            header.removeAll(keepingCapacity: true)
            skipped = frame.length
            lines.append(Self.line(frame))
        }
        return lines
    }

    private static let names = [
        "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
        "CONTINUATION",
    ]

    private static func line(_ frame: FrameHeader) -> String {
        let name = Int(frame.type) < names.count ? names[Int(frame.type)] : "type \(frame.type)"
        let flags = flags(of: frame).map { " \($0)" }.joined()
        return "\(name) stream \(frame.stream), \(frame.length) bytes\(flags)"
    }

    private static func flags(of frame: FrameHeader) -> [String] {
        let known: [(UInt8, String)]
        switch FrameType(rawValue: frame.type) {
        case .data: known = [(FrameFlags.endStream, "END_STREAM"), (FrameFlags.padded, "PADDED")]
        case .headers:
            known = [
                (FrameFlags.endStream, "END_STREAM"), (FrameFlags.endHeaders, "END_HEADERS"),
                (FrameFlags.padded, "PADDED"), (FrameFlags.priority, "PRIORITY"),
            ]
        case .settings, .ping: known = [(FrameFlags.acknowledgement, "ACK")]
        case .pushPromise, .continuation: known = [(FrameFlags.endHeaders, "END_HEADERS")]
        case .priority, .resetStream, .goAway, .windowUpdate, nil: known = []
        }
        return known.filter { frame.has($0.0) }.map(\.1)
    }
}
