import LoadingKitHTTP1
import LoadingKitPrimitives

/// One connection of a loopback server: requests are processed in sequence, and each is answered before the next is
/// read. Requests that a client pipelines wait in the buffer.
final class ServerConnection {
    /// The client's bytes are no request. Other errors of the same type are those of the program's closures.
    private struct MalformedRequest: Error {
        let cause: HTTP1Error
    }

    private let connection: AcceptedConnection
    private var parser = RequestParser()
    private var input: [UInt8] = []
    private var position = 0
    private var requestCount = 0

    init(_ connection: AcceptedConnection) { self.connection = connection }

    private var socket: StreamSocket { connection.socket }
    private var options: LoopbackServer.Options { connection.options }

    /// Returns when the connection has to be closed.
    func serve() throws {
        do {
            while try serveRequest() {}
        } catch let error as MalformedRequest {
            // The client gets this response, and no other: the start of the next request is unknown.
            let response = ServerResponse.text("\(error.cause)\n", status: error.cause.status).closing()
            try ResponseSender(socket: socket, request: nil).send(response)
            linger()
            throw error.cause
        }
    }

    /// Serves one request. Returns whether another one may follow.
    private func serveRequest() throws -> Bool {
        guard let (head, framing) = try readHead() else { return false }
        var request = connection.request(head.method, head.target, head.fields, number: requestCount)
        requestCount += 1
        let sender = ResponseSender(
            socket: socket, request: request, version: head.version, allowsReuse: parser.allowsReuse)
        let hasBody = framing != .none && framing != .length(0)
        let mayContinue: Bool
        if let early = try options.beforeBody?(request) {
            connection.requests?.append(request)
            let response = hasBody ? early.closing() : early
            mayContinue = try send(response, with: sender)
            // Without a body only the message's end has to be read.
            if mayContinue { try readBody(of: &request) }
        } else {
            for interim in try options.interimResponses?(request) ?? [] { try sender.sendInterim(interim) }
            if hasBody, request.expectsContinue { try sender.sendInterim(.init(100)) }
            try readBody(of: &request)
            connection.requests?.append(request)
            let response = try connection.route(request)
            mayContinue = try send(response, with: sender)
        }
        if !mayContinue { linger() }
        return mayContinue
    }

    /// Whether the connection may carry another request afterwards.
    private func send(_ response: ServerResponse, with sender: ResponseSender) throws -> Bool {
        // The unread bytes belong to the closure that takes the connection.
        if response.body.takesConnection { socket.pushBack(input[position...]) }
        return try sender.send(response)
    }

    // MARK: Reading

    /// Nil when the client ends the connection between requests.
    private func readHead() throws -> (RequestHead, BodyFraming)? {
        while let event = try nextEvent() {
            if case .head(let head, let framing) = event { return (head, framing) }
        }
        return nil
    }

    private func readBody(of request: inout ServerRequest) throws {
        while let event = try nextEvent() {
            switch event {
            case .head: continue
            case .body(let range): try receiveBody(range, of: &request)
            case .trailers(let fields): request.trailers = fields
            case .end: return
            }
        }
        throw ClientClosed()
    }

    private func receiveBody(_ range: Range<Int>, of request: inout ServerRequest) throws {
        request.bodyLength &+= UInt64(range.count)
        if let receive = options.receiveBody {
            try input.withUnsafeBytes { try receive(request, UnsafeRawBufferPointer(rebasing: $0[range])) }
        } else {
            request.body += input[range]
        }
    }

    /// Nil when the client has ended the connection.
    private func nextEvent() throws -> RequestParser.Event? {
        while true {
            // Called even for an empty buffer: a message without a body ends with its head.
            let result = input.withUnsafeBytes { bytes in
                Result { () throws(HTTP1Error) in try parser.next(bytes, &position) }
            }
            if let event = try Self.event(result) { return event }
            guard try receive() else {
                _ = try Self.event(Result { () throws(HTTP1Error) in try parser.finish() })
                return nil
            }
        }
    }

    private static func event(
        _ result: Result<RequestParser.Event?, HTTP1Error>
    ) throws -> RequestParser.Event? {
        try result.mapError { MalformedRequest(cause: $0) }.get()
    }

    /// Refills the buffer, whose bytes are all consumed. False at the connection's end.
    private func receive() throws -> Bool {
        if input.count < Self.bufferBytes { input = [UInt8](repeating: 0, count: Self.bufferBytes) }
        let count = try input.withUnsafeMutableBytes { try socket.read(into: $0) }
        input.removeLast(input.count - count)
        position = 0
        return count > 0
    }

    private static let bufferBytes = 16384

    /// Ends the sending side and reads the client's remaining bytes until it closes, too: closing with unread bytes
    /// would reset the connection, and the reset may overtake the response (RFC 9112 §9.6).
    private func linger() {
        socket.halfClose()
        while let bytes = try? socket.read(atMost: Self.bufferBytes), !bytes.isEmpty {}
    }
}

extension HTTP1Error {
    /// The status of the response to malformed bytes.
    fileprivate var status: Int {
        if kind == .headTooLarge || kind == .tooManyFields { return 431 }
        if kind == .startLineTooLong { return 414 }
        return kind == .unsupportedVersion ? 505 : 400
    }
}

extension ServerRequest {
    /// Whether the client expects `100 Continue` (RFC 9110 §10.1.1).
    fileprivate var expectsContinue: Bool {
        fields[.expect]?.lowercased() == "100-continue"
    }
}

/// The client ended the connection in the middle of a request.
struct ClientClosed: Error, CustomStringConvertible {
    var description: String { "the client closed in the middle of a request" }
}
