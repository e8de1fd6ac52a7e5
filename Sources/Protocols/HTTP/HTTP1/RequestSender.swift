import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitTransport

/// Sends one request: the head, then the body as fast as the socket takes it and its source delivers it. The connection
/// drives the sender and owns the codec.
struct RequestSender {
    enum Progress {
        case done
        case blocked
        case needsPiece(any BodySource)
        /// Sending waits for `100 Continue`, or until the time for it has passed.
        case awaitsContinue
        case failed(any Error)
    }

    private enum Rest {
        case data(Data)
        case source(any BodySource)
        case nothing
    }

    /// Head and framing, before a piece of the body.
    private var control: [UInt8]
    private var controlSent = 0
    private var piece = BodyPiece.empty
    /// The framing bytes after the piece.
    private var suffix: [UInt8] = []
    private var rest: Rest
    private var awaitsContinue: Bool
    /// The source was asked for its next piece, and has not given it.
    private var isReading = false
    private var isEnded = false

    private let headLength: Int

    /// The numbers of bytes of the head, of the body, and of the body's framing that the socket has taken.
    private(set) var headCount = 0
    private(set) var bodyCount = 0
    private(set) var framingCount = 0

    /// - Parameter buffer: the memory of an earlier head, taken for reuse.
    init(_ exchange: HTTPExchange, _ codec: inout ClientConnection, buffer: inout [UInt8]) throws(HTTP1Error) {
        let body = exchange.body
        if let source = body.source {
            rest = .source(source)
        } else if let data = body.data, !data.isEmpty {
            rest = .data(data)
        } else {
            rest = .nothing
        }
        let version = exchange.http1Version
        awaitsContinue = exchange.decideContinue(asksForLongBodies: version == .http1_1)
        control = []
        swap(&control, &buffer)
        control.removeAll(keepingCapacity: true)
        try codec.sendRequest(
            method: exchange.method, target: exchange.requestTarget, version: version, first: exchange.http1Fields,
            fields: exchange.transaction.fields, framing: body.framing(method: exchange.method), into: &control)
        headLength = control.count
        exchange.headWillBeSent(control)
    }

    consuming func takeBuffer() -> [UInt8] { control }

    var sentAnything: Bool { headCount > 0 }
    var isWaitingForContinue: Bool { awaitsContinue }

    mutating func continueReceived() { awaitsContinue = false }

    mutating func proceed(_ stream: ByteStream, _ codec: inout ClientConnection) -> Progress {
        while true {
            do {
                if let progress = try prepare(&codec) { return try flushed(stream) ?? asked(progress) }
                if let progress = try flushed(stream) { return progress }
            } catch {
                return .failed(error)
            }
        }
    }

    /// Asks a source once for each piece.
    private mutating func asked(_ progress: Progress) -> Progress {
        guard case .needsPiece = progress else { return progress }
        defer { isReading = true }
        return isReading ? .blocked : progress
    }

    /// The end of a chunk is sent with the next one. Where this is not there yet, the server may wait for the end before it
    /// uses the chunk, and the program for its response before it produces the next one.
    ///
    /// Returns false if there is no such end to send.
    mutating func endChunk() -> Bool {
        guard isReading, piece.isEmpty, !suffix.isEmpty else { return false }
        compact()
        return true
    }

    /// Takes the next piece of a body's source; nil at its end.
    mutating func supply(_ piece: BodyPiece?, _ codec: inout ClientConnection) throws {
        isReading = false
        guard let piece else {
            rest = .nothing
            return
        }
        try put(piece, &codec)
    }

    /// Adds the next bytes to the bytes to send. If there are none, returns the event to wait for.
    private mutating func prepare(_ codec: inout ClientConnection) throws -> Progress? {
        if !piece.isEmpty { return nil }
        if isEnded { return .done }
        if awaitsContinue { return .awaitsContinue }
        switch rest {
        case .data(let data):
            rest = .nothing
            try put(.bytes(data), &codec)
        case .source(let source): return .needsPiece(source)
        case .nothing:
            compact()
            try codec.finishBody(into: &control)
            isEnded = true
        }
        return nil
    }

    private mutating func put(_ piece: BodyPiece, _ codec: inout ClientConnection) throws {
        compact()
        try codec.sendBody(piece.count, before: &control, after: &suffix)
        self.piece = piece
    }

    private mutating func compact() {
        if controlSent == control.count {
            control.removeAll(keepingCapacity: true)
            controlSent = 0
        }
        control.append(contentsOf: suffix)
        suffix.removeAll(keepingCapacity: true)
    }

    /// Writes the prepared bytes. Returns nil if the socket took all of them.
    private mutating func flushed(_ stream: ByteStream) throws -> Progress? {
        while controlSent < control.count || !piece.isEmpty {
            switch try write(to: stream) {
            case .bytes(let count): took(count)
            case .wouldBlock: return .blocked
            case .failed(let error): return .failed(error)
            }
        }
        return nil
    }

    private func write(to stream: ByteStream) throws -> ByteStream.WriteResult {
        try control.withUnsafeBytes {
            try piece.write(after: UnsafeRawBufferPointer(rebasing: $0[controlSent...]), to: stream)
        }
    }

    private mutating func took(_ count: Int) {
        let ofControl = min(count, control.count - controlSent)
        controlSent += ofControl
        let ofHead = min(ofControl, headLength - headCount)
        headCount += ofHead
        framingCount += ofControl - ofHead
        if count > ofControl { piece.removeFirst(count - ofControl) }
        bodyCount += count - ofControl
    }
}
