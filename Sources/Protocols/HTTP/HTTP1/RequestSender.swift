import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// Sends one request: the head, then the body as the socket takes it and as its stream gives it.
///
/// Its connection drives it, and owns the codec: `proceed` goes on until the socket is full, the body's next piece is
/// being read, or all is sent.
struct RequestSender {
    enum Progress {
        case done
        /// Until the socket has room.
        case blocked
        /// Until the body's source has given its next piece.
        case needsPiece(any BodySource)
        /// Until the server says `100 Continue`, or takes too long to say so.
        case awaitsContinue
        case failed(any Error)
    }

    private enum Rest {
        /// What is left of a body that is known whole.
        case data(Data)
        case source(any BodySource)
        case nothing
    }

    /// Head and framing bytes, and behind them a piece of the body.
    private var control: [UInt8]
    private var controlSent = 0
    private var piece = Data()
    private var pieceSent = 0
    /// What frames the piece from behind.
    private var suffix: [UInt8] = []
    private var rest: Rest
    private var awaitsContinue: Bool
    private var isEnded = false

    private let headLength: Int

    /// Bytes of the head, of the body, and of what frames that, which the socket has taken.
    private(set) var headCount = 0
    private(set) var bodyCount = 0
    private(set) var framingCount = 0

    /// - Parameter buffer: memory of an earlier request's head, taken to be used again.
    init(_ exchange: HTTPExchange, _ codec: inout ClientConnection, buffer: inout [UInt8]) throws(HTTP1Error) {
        let body = exchange.body
        if let source = body.source {
            rest = .source(source)
        } else if let data = body.data, !data.isEmpty {
            rest = .data(data)
        } else {
            rest = .nothing
        }
        awaitsContinue = exchange.decideContinue(asksForLongBodies: true)
        control = []
        swap(&control, &buffer)
        control.removeAll(keepingCapacity: true)
        try codec.sendRequest(
            method: exchange.method, target: exchange.requestTarget, first: exchange.http1Fields,
            fields: exchange.transaction.fields, framing: body.framing(method: exchange.method), into: &control)
        headLength = control.count
    }

    /// The memory that the head was put in, once all is sent.
    consuming func takeBuffer() -> [UInt8] { control }

    var sentAnything: Bool { headCount > 0 }
    var isWaitingForContinue: Bool { awaitsContinue }

    mutating func continueReceived() { awaitsContinue = false }

    mutating func proceed(_ stream: ByteStream, _ codec: inout ClientConnection) -> Progress {
        while true {
            do {
                if let progress = try prepare(&codec) { return try flushed(stream) ?? progress }
                if let progress = try flushed(stream) { return progress }
            } catch {
                return .failed(error)
            }
        }
    }

    /// The next piece of a body's source; nil at its end.
    mutating func supply(_ data: Data?, _ codec: inout ClientConnection) throws {
        guard let data else {
            rest = .nothing
            return
        }
        try put(data, &codec)
    }

    /// Puts what comes next behind what is to be sent. Gives what to wait for when there is nothing to put.
    private mutating func prepare(_ codec: inout ClientConnection) throws -> Progress? {
        if pieceSent < piece.count { return nil }
        if isEnded { return .done }
        if awaitsContinue { return .awaitsContinue }
        switch rest {
        case .data(let data):
            rest = .nothing
            try put(data, &codec)
        case .source(let source):
            return .needsPiece(source)
        case .nothing:
            compact()
            try codec.finishBody(into: &control)
            isEnded = true
        }
        return nil
    }

    private mutating func put(_ data: Data, _ codec: inout ClientConnection) throws {
        compact()
        try codec.sendBody(data.count, before: &control, after: &suffix)
        piece = data
        pieceSent = 0
    }

    private mutating func compact() {
        if controlSent == control.count {
            control.removeAll(keepingCapacity: true)
            controlSent = 0
        }
        control.append(contentsOf: suffix)
        suffix.removeAll(keepingCapacity: true)
    }

    /// Writes what is put; nil when the socket took all of it.
    private mutating func flushed(_ stream: ByteStream) throws -> Progress? {
        while controlSent < control.count || pieceSent < piece.count {
            switch write(to: stream) {
            case .bytes(let count): took(count)
            case .wouldBlock: return .blocked
            case .failed(let error): return .failed(error)
            }
        }
        return nil
    }

    private func write(to stream: ByteStream) -> ByteStream.WriteResult {
        control.withUnsafeBytes { control in
            let control = UnsafeRawBufferPointer(rebasing: control[controlSent...])
            guard pieceSent < piece.count else { return stream.write(control) }
            return piece.withUnsafeBytes { piece in
                let piece = UnsafeRawBufferPointer(rebasing: piece[pieceSent...])
                return control.isEmpty ? stream.write(piece) : stream.write(control, piece)
            }
        }
    }

    private mutating func took(_ count: Int) {
        let ofControl = min(count, control.count - controlSent)
        controlSent += ofControl
        let ofHead = min(ofControl, headLength - headCount)
        headCount += ofHead
        framingCount += ofControl - ofHead
        pieceSent += count - ofControl
        bodyCount += count - ofControl
    }
}
