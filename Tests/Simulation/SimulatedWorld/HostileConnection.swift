import CSimulatedSystem
import Foundation
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import Synchronization

/// Listens, and does with each request over HTTP/2 as its ``Misbehaviour`` says. A connection begins in one of some ways.
final class HostileHTTP2Server: Sendable {
    private let acceptor: ConnectionAcceptor

    init(_ identity: ServerIdentity, _ ledger: Ledger) throws {
        let context = try TLSServerContext(TLSServerOptions(identity, applicationProtocols: ["h2"]))
        let memory = Memory()
        acceptor = try ConnectionAcceptor(.ipv4()) { socket, number in
            let carrier = Carrier()
            ledger.begins(carrier)
            defer { carrier.didEnd() }
            do {
                try socket.startTLS(context)
                try HostileConnection(socket, number, carrier, memory, ledger).serve()
            } catch let error as HTTP2Error where carrier.isFine.load(ordering: .relaxed) {
                ledger.violation("a client sent what is not HTTP/2 on connection \(number): \(error)")
            } catch {
                // The client has gone, or the connection ends on purpose.
                return
            }
        }
    }

    func url(_ resource: Resource) -> String { "https://127.0.0.1:\(acceptor.address.port ?? 0)\(resource.path)" }

    func stop() { acceptor.stop() }

    /// What all connections of the server know.
    fileprivate final class Memory: Sendable {
        private let requests = Guarded<Set<UInt64>>([])
        /// How many times in a row requests of a client were refused.
        private let refusals = Guarded<[Int: Int]>([:])

        /// Whether the request comes for the first time.
        func isNew(_ request: UInt64) -> Bool { requests.withLock { $0.insert(request).inserted } }

        func noteAnswer(to client: Int) { refusals.withLock { $0[client] = nil } }

        /// Returns whether the client has patience left.
        func noteRefusal(of client: Int) -> Bool {
            refusals.withLock {
                $0[client, default: 0] += 1
                return $0[client, default: 0] < 4
            }
        }
    }
}

/// A connection of the hostile server, on its thread.
final class HostileConnection {
    /// The connection ends on purpose.
    struct Ended: Error {}

    /// A request, which may still be on its way.
    struct Exchange {
        let stream: HTTP2StreamID
        let resource: Resource
        let isPost: Bool
        /// How many times a request that may not be sent twice may come again.
        let repeats: Int
        /// Whether the request comes for the first time.
        let isFirst: Bool
        var body: [UInt8] = []
    }

    private enum Opening: CaseIterable {
        case ordinary, noWindow, noTable, noStreams, noAcknowledgement, noSettings, otherProtocol, silence, end

        /// Whether the client may give up a connection that begins so, or requests on it.
        var isFine: Bool { [.ordinary, .noWindow, .noTable].contains(self) }
    }

    let socket: StreamSocket
    private var machine: HTTP2ConnectionStateMachine
    private let number: Int
    private let opening: Opening
    private let carrier: Carrier
    private let ledger: Ledger
    private let memory: HostileHTTP2Server.Memory
    private var settings = HTTP2Settings()
    private var output: [UInt8] = []
    private var incomplete: [HTTP2StreamID: Exchange] = [:]
    private var waiting: [Exchange] = []
    /// The last stream whose request the server has acted upon, and the last one that it takes.
    private(set) var lastActedUpon = HTTP2StreamID.connection
    private var lastTaken = HTTP2StreamID.last
    private(set) var lastReceived = HTTP2StreamID.connection
    /// Streams whose windows stay as they are.
    private var stalled: Set<HTTP2StreamID> = []
    private var hasAnswered = false

    fileprivate init(
        _ socket: StreamSocket, _ number: Int, _ carrier: Carrier, _ memory: HostileHTTP2Server.Memory,
        _ ledger: Ledger
    ) {
        (self.socket, self.number, self.carrier) = (socket, number, carrier)
        (self.memory, self.ledger) = (memory, ledger)
        let choice = Int(sim_random(20))
        opening = choice < Opening.allCases.count ? Opening.allCases[choice] : .ordinary
        if opening == .noWindow { settings.initialWindowSize = 0 }
        if opening == .noTable { settings.headerTableSize = 0 }
        settings.maxConcurrentStreams = opening == .noStreams ? 0 : 100
        var limits = HTTP2Limits()
        // The client has to reset many streams.
        limits.controlCredit = 1_000_000
        machine = HTTP2ConnectionStateMachine(role: .server, settings: settings, limits: limits)
        carrier.isFine.store(opening.isFine, ordering: .relaxed)
    }

    /// Throws in the end.
    func serve() throws {
        sim_trace("hostile connection \(number) begins: \(opening)")
        try open()
        while true {
            while !waiting.isEmpty { try handle(waiting.removeFirst()) }
            try receive()
        }
    }

    private func open() throws {
        var preface: [UInt8] = []
        machine.sendPreface(to: &preface)
        switch opening {
        case .otherProtocol:
            try socket.write(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8))
            throw Ended()
        case .end: throw Ended()
        case .silence: try fallSilent()
        case .noSettings: break
        case .ordinary, .noTable, .noAcknowledgement: output += preface
        case .noWindow, .noStreams:
            output += preface
            try flush()
            usleep(300_000)
            try change {
                $0.initialWindowSize = 65535
                $0.maxConcurrentStreams = 100
            }
        }
    }

    // MARK: Receiving

    private func receive() throws {
        let bytes = try socket.read()
        guard !bytes.isEmpty else { throw Ended() }
        try bytes.withUnsafeBytes { input in
            var position = 0
            while let event = try machine.receive(input, &position) { try take(event, input) }
        }
        try flush()
    }

    private func take(_ event: HTTP2Event, _ input: UnsafeRawBufferPointer) throws {
        switch event {
        case .headers(let stream, .request(let head), let endStream): begin(stream, head, endStream)
        case .data(let stream, let range, let count, let endStream):
            incomplete[stream]?.body += input[range]
            machine.openConnectionWindow(by: count)
            if !stalled.contains(stream) { machine.openWindow(of: stream, by: count) }
            if endStream, let exchange = incomplete.removeValue(forKey: stream) { complete(exchange) }
        case .streamReset(let stream, _): incomplete[stream] = nil
        case .streamFailed(_, let error): throw error
        default: break
        }
    }

    private func begin(_ stream: HTTP2StreamID, _ head: HTTP2RequestHead, _ endStream: Bool) {
        guard let resource = head.path.flatMap({ Resource(path: $0) }) else { return }
        guard stream <= lastTaken else { return ledger.refuses(resource.number) }
        let exchange = Exchange(
            stream: stream, resource: resource, isPost: head.method == "POST",
            repeats: head.fields[name: "x-repeats"].flatMap { Int($0) } ?? 0, isFirst: memory.isNew(resource.number))
        let misbehaviour = Misbehaviour.of(resource)
        sim_trace("\(head.method) \(resource) on hostile connection \(number), \(stream): \(misbehaviour.name)")
        lastReceived = max(lastReceived, stream)
        Servers.checkSender(head.fields, resource, ledger)
        ledger.carries(resource.number, carrier)
        if misbehaviour.isEarly { waiting.append(exchange) }
        if misbehaviour.keepsWindow { stalled.insert(stream) }
        if !endStream { incomplete[stream] = exchange } else if !misbehaviour.isEarly { waiting.append(exchange) }
    }

    private func complete(_ exchange: Exchange) {
        if exchange.body != exchange.resource.body() {
            ledger.violation("\(exchange.resource): the server got \(exchange.body.count) other bytes")
        }
        if !Misbehaviour.of(exchange.resource).isEarly { waiting.append(exchange) }
    }

    private func handle(_ exchange: Exchange) throws {
        guard exchange.stream <= lastTaken, machine.isOpen(exchange.stream) else { return }
        let misbehaviour = Misbehaviour.of(exchange.resource)
        if misbehaviour.endsConnection { carrier.isFine.store(false, ordering: .relaxed) }
        if !misbehaviour.refuses || !exchange.isFirst { actUpon(exchange) }
        do {
            try misbehaviour.act(self, exchange)
            try flush()
        } catch let error as HTTP2Error where error.scope == .call {
            // The client has closed the stream.
            machine.sendReset(exchange.stream, .cancel, to: &output)
        }
    }

    private func actUpon(_ exchange: Exchange) {
        lastActedUpon = max(lastActedUpon, exchange.stream)
        guard exchange.isPost else { return }
        ledger.actsUpon(exchange.resource.number, repeats: exchange.repeats) { [carrier] in carrier.isOpen }
    }

    // MARK: What the server sends

    func flush() throws {
        var control: [UInt8] = []
        machine.drainControlBytes(into: &control)
        if opening == .noAcknowledgement { control = Self.withoutAcknowledgements(control) }
        output += control
        guard !output.isEmpty else { return }
        defer { output = [] }
        try socket.write(output)
    }

    private static func withoutAcknowledgements(_ frames: [UInt8]) -> [UInt8] {
        var (rest, kept) = (frames[...], [UInt8]())
        while rest.count >= 9 {
            let frame = rest.prefix(9 + Int(rest[rest.startIndex + 1]) << 8 + Int(rest[rest.startIndex + 2]))
            if frame.dropFirst(3).prefix(2) != [4, 1] { kept += frame }
            rest = rest.dropFirst(frame.count)
        }
        return kept
    }

    /// A frame of any type and payload.
    func frame(
        _ type: UInt8, flags: UInt8 = 0, on stream: HTTP2StreamID = .connection, _ payload: [UInt8] = []
    ) {
        let count = payload.count
        output += [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), type, flags]
        output += Self.bytes(stream.rawValue) + payload
    }

    static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// Bytes that are no frame.
    func write(_ bytes: [UInt8]) { output += bytes }

    func head(_ exchange: Exchange, length: Int? = nil, status: Int = 200, endStream: Bool = false) throws {
        var fields = HTTPFields()
        fields.append(name: "x-resource", value: exchange.resource.path)
        if let length { fields.append(.contentLength, "\(length)") }
        try machine.sendResponse(status, fields, on: exchange.stream, endStream: endStream, to: &output)
        if !hasAnswered { memory.noteAnswer(to: exchange.resource.client) }
        hasAnswered = true
    }

    /// Blocks until the client has opened its windows for all bytes.
    func send(_ body: [UInt8], on stream: HTTP2StreamID, padding: UInt8? = nil, endStream: Bool = true) throws {
        var rest = body[...]
        let overhead = padding.map { Int($0) + 1 } ?? 0
        repeat {
            let room = machine.sendableBytes(on: stream) - overhead
            if room < min(rest.count, 1), machine.isOpen(stream) {
                try receive()
                continue
            }
            let piece = rest.prefix(max(0, min(room, 1 + body.count / 3)))
            rest = rest.dropFirst(piece.count)
            let ends = endStream && rest.isEmpty
            try machine.sendDataHeader(piece.count + overhead, on: stream, endStream: ends, to: &output)
            output.removeLast(HTTP2ConnectionStateMachine.dataHeaderBytes)
            piece.withUnsafeBytes {
                HTTP2FrameEncoder.data($0, stream: stream, endStream: ends, padding: padding, to: &output)
            }
            try flush()
        } while !rest.isEmpty
    }

    /// Blocks until the whole request is there.
    func receiveRest(of exchange: Exchange) throws { while incomplete[exchange.stream] != nil { try receive() } }

    /// The longest payload of a frame that the client accepts.
    var greatestFrame: Int { Int(machine.peerSettings.maxFrameSize) }

    func answer(_ exchange: Exchange) throws {
        try head(exchange)
        try send(exchange.resource.body(), on: exchange.stream)
    }

    func trailers(_ fields: HTTPFields, on stream: HTTP2StreamID) throws {
        try machine.sendTrailers(fields, on: stream, to: &output)
    }

    func reset(_ exchange: Exchange, _ code: HTTP2ErrorCode) {
        machine.sendReset(exchange.stream, code, to: &output)
        guard code == .refusedStream else { return }
        ledger.refuses(exchange.resource.number)
        noteRefusal(exchange)
    }

    /// The client has other settings from now on.
    func change(_ change: (inout HTTP2Settings) -> Void) throws {
        change(&settings)
        machine.updateSettings(settings, to: &output)
        try flush()
    }

    /// - Parameter last: The last stream that is not refused.
    func goAway(_ exchange: Exchange, after last: HTTP2StreamID, _ code: HTTP2ErrorCode = .noError) {
        let last = min(last, lastTaken)
        HTTP2FrameEncoder.goAway(lastStream: last, code, to: &output)
        lastTaken = last
        for other in incomplete.values + waiting + [exchange] where other.stream > last {
            ledger.refuses(other.resource.number)
        }
        noteRefusal(exchange)
    }

    func announceEnd() { machine.sendShutdownNotice(to: &output) }

    /// A client sends requests again that were refused, but not for ever.
    func noteRefusal(_ exchange: Exchange) {
        if !memory.noteRefusal(of: exchange.resource.client) { carrier.isFine.store(false, ordering: .relaxed) }
    }

    func fallSilent() throws -> Never {
        try flush()
        try socket.waitUntilPeerCloses()
        throw Ended()
    }

    func end() throws -> Never {
        try flush()
        throw Ended()
    }
}
