import LoadingKitHTTP2

/// Frames as a server sends them for a page of small files.
enum FrameSequence {
    static let streams = 10
    static let dataFramesOfAStream = 4

    /// A HEADERS and some DATA for each stream, and what goes between them.
    static let count = streams * (1 + dataFramesOfAStream) + 3

    /// Appends all of them.
    static func write(into output: inout [UInt8]) {
        HTTP2FrameEncoder.settingsAcknowledgement(to: &output)
        HTTP2FrameEncoder.windowUpdate(.connection, increment: 65_535, to: &output)
        for index in 0..<streams { writeResponse(on: HTTP2StreamID(rawValue: UInt32(index * 2 + 1)), into: &output) }
        HTTP2FrameEncoder.ping(1, to: &output)
    }

    private static let block = [UInt8](repeating: 0x88, count: 90)
    private static let payload = [UInt8](repeating: 0x61, count: 1024)

    private static func writeResponse(on stream: HTTP2StreamID, into output: inout [UInt8]) {
        block.withUnsafeBytes { HTTP2FrameEncoder.headers($0, stream: stream, endStream: false, to: &output) }
        for index in 1...dataFramesOfAStream {
            payload.withUnsafeBytes { bytes in
                HTTP2FrameEncoder.data(
                    bytes, stream: stream, endStream: index == dataFramesOfAStream, to: &output)
            }
        }
    }
}
