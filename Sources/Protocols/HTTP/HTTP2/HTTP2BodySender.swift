import Foundation
@_spi(LoadingKitPlugins) import LoadingKitCore
import LoadingKitHTTP2

/// The unsent rest of a request's body over HTTP/2.
struct HTTP2BodySender {
    enum Progress {
        case done
        /// Sending waits for a window, or for the socket.
        case blocked
        case needsPiece(any BodySource)
        case waiting
    }

    private enum Rest {
        case data
        case source(any BodySource, isReading: Bool)
        /// The source has ended, and the message is still to be ended.
        case end
        /// The bytes of another protocol, until its exchange ends.
        case upgrade(any HTTPUpgrade)
    }

    /// The largest frame, so that the streams take turns.
    private static let largestFrame = 64 * 1024

    private var rest: Rest
    private var piece: Data
    private var sent = 0
    /// The end of the last frame, counted from the connection's first byte.
    var end = 0
    private var length: BodyLength
    var awaitsContinue: Bool

    /// Nil for a request without a body to send.
    init?(_ body: RequestBody, awaitsContinue: Bool) {
        length = BodyLength(of: body)
        if let source = body.source {
            (rest, piece) = (.source(source, isReading: false), Data())
        } else {
            guard let data = body.data, !data.isEmpty else { return nil }
            (rest, piece) = (.data, data)
        }
        self.awaitsContinue = awaitsContinue
    }

    init(_ upgrade: any HTTPUpgrade) {
        (rest, piece, length) = (.upgrade(upgrade), Data(), BodyLength(stated: nil))
        awaitsContinue = false
    }

    var isUpgrade: Bool { if case .upgrade = rest { true } else { false } }

    /// Prepares one frame, and returns the number of body bytes in it.
    mutating func proceed(
        _ stream: HTTP2StreamID, _ codec: inout HTTP2ConnectionStateMachine, to output: inout [UInt8]
    ) throws(HTTP2Error) -> (Progress, count: Int) {
        if awaitsContinue { return (.waiting, 0) }
        guard sent < piece.count else { return try proceedWithoutPiece(stream, &codec, to: &output) }
        let count = min(codec.sendableBytes(on: stream), piece.count - sent, Self.largestFrame)
        guard count > 0 else { return (.blocked, 0) }
        let isLast = sent + count == piece.count && isData
        try codec.sendDataHeader(count, on: stream, endStream: isLast, to: &output)
        let start = piece.startIndex + sent
        output.append(contentsOf: piece[start..<start + count])
        sent += count
        return (isLast ? .done : .blocked, count)
    }

    /// Takes the bytes that another protocol has to send. Called before ``proceed(_:_:to:)``.
    mutating func takeOutput() {
        guard sent == piece.count, case .upgrade(let upgrade) = rest else { return }
        var buffer: [UInt8] = []
        upgrade.takeOutput(&buffer)
        (piece, sent) = (Data(buffer), 0)
    }

    /// The connection's output is written from `position` on. Tells another protocol, if it has bytes there.
    func outputDidProgress(from position: Int) {
        if end > position, case .upgrade(let upgrade) = rest { upgrade.outputDidProgress() }
    }

    /// The last bytes of another protocol; nil if the stream has not switched.
    func takeLastOutput() -> [UInt8]? {
        guard case .upgrade(let upgrade) = rest else { return nil }
        var more: [UInt8] = []
        upgrade.takeLastOutput(&more)
        return piece.dropFirst(sent) + more
    }

    private var isData: Bool { if case .data = rest { true } else { false } }

    private mutating func proceedWithoutPiece(
        _ stream: HTTP2StreamID, _ codec: inout HTTP2ConnectionStateMachine, to output: inout [UInt8]
    ) throws(HTTP2Error) -> (Progress, count: Int) {
        switch rest {
        case .data: return (.done, 0)
        case .end:
            try codec.sendDataHeader(0, on: stream, endStream: true, to: &output)
            return (.done, 0)
        case .source(_, isReading: true), .upgrade: return (.waiting, 0)
        case .source(let source, isReading: false):
            rest = .source(source, isReading: true)
            return (.needsPiece(source), 0)
        }
    }

    /// Takes the next piece of the body's source; nil at its end.
    ///
    /// - Throws: `requestBodyStreamExhausted` if the body is longer or shorter than the request states (RFC 9113 §8.1.1).
    mutating func supply(_ data: Data?) throws {
        try length.count(data?.count)
        guard let data, case .source(let source, _) = rest else {
            rest = .end
            return
        }
        rest = .source(source, isReading: false)
        piece = data
        sent = 0
    }
}
