import LoadingKitHTTP2
import LoadingKitPrimitives

/// One HTTP/2 connection of a loopback server: requests are read as they arrive, and answered in the order in which
/// they are complete. A separate thread reads, so that a client's PING is answered while a route waits. Streams that
/// switch to another protocol run on separate threads, so that several can be active at a time.
final class HTTP2ServerConnection: @unchecked Sendable {  // variables and socket: guarded by `monitor`
    /// The unread bytes of a switched stream, and the number of flow-control bytes that they occupy.
    private struct Received {
        var bytes: [UInt8] = []
        var windowBytes = 0
    }

    private static let bufferBytes = 65_536

    private let connection: AcceptedConnection
    private var machine: HTTP2ConnectionStateMachine
    private var output: [UInt8] = []
    /// Requests with incomplete bodies.
    private var incomplete: [HTTP2StreamID: ServerRequest] = [:]
    private var complete: [(stream: HTTP2StreamID, request: ServerRequest)] = []
    /// The responses to requests that were answered before their bodies were received.
    private var early: [HTTP2StreamID: ServerResponse] = [:]
    /// The bytes received for streams that have switched to another protocol, and the streams that the client has
    /// ended.
    private var tunnels: [HTTP2StreamID: Received] = [:]
    private var endedTunnels: Set<HTTP2StreamID> = []
    private var buffer = [UInt8](repeating: 0, count: bufferBytes)
    private var requestCount = 0
    private let monitor = Monitor()
    private var hasEnded = false
    /// Whether the reading thread may use the socket.
    private var isReading = false
    private var tunnelThreads: [WorkerThread] = []
    /// The error that ended the connection.
    private var failure: (any Error)?

    init(_ connection: AcceptedConnection) {
        self.connection = connection
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = 100
        settings.initialWindowSize = 1 << 20
        settings.enableConnectProtocol = connection.options.allowsConnectProtocol
        machine = HTTP2ConnectionStateMachine(role: .server, settings: settings, connectionWindow: 4 << 20)
        machine.sendPreface(to: &output)
    }

    private var socket: StreamSocket { connection.socket }
    private var options: LoopbackServer.Options { connection.options }

    /// Returns when the client has ended the connection.
    func serve() throws {
        let reader = try WorkerThread { self.readUntilEnd() }
        do {
            while let (stream, request) = try next() {
                connection.requests?.append(request)
                try answer(request, on: stream)
            }
        } catch {
            monitor.withLock { end(because: error) }
        }
        endTunnels()
        reader.join()
        if let failure { throw failure }
    }

    /// The next request to answer; nil at the connection's end.
    private func next() throws -> (stream: HTTP2StreamID, request: ServerRequest)? {
        try monitor.withLock {
            while complete.isEmpty { guard try receive() else { return nil } }
            return failure == nil ? complete.removeFirst() : nil
        }
    }

    // MARK: Receiving. From here on callers hold the monitor's lock, unless the comment states otherwise.

    /// Releases the lock until something has been received. False at the connection's end.
    private func receive() throws -> Bool {
        if hasEnded { return false }
        try flush()
        monitor.wait()
        // The caller takes the last bytes before it is told of the connection's end.
        return true
    }

    /// Called on the reading thread, without the lock. Returns when the connection has ended.
    private func readUntilEnd() {
        monitor.withLock {
            isReading = true
            do {
                while !hasEnded {
                    if !socket.hasPending { try monitor.withoutLock { try socket.waitUntilReadable() } }
                    guard !hasEnded, try receiveNow() else { break }
                    monitor.notifyAll()
                }
            } catch {
                failure = failure ?? error
                socket.end(because: error)
            }
            hasEnded = true
            isReading = false
            monitor.notifyAll()
        }
    }

    /// Ends the connection when the reading thread no longer uses the socket. Must not be called on the reading thread.
    private func end(because error: any Error) {
        failure = failure ?? error
        hasEnded = true
        monitor.notifyAll()
        socket.stopReceiving()
        while isReading { monitor.wait() }
        socket.end(because: error)
    }

    /// Calls a closure of the test, without the lock.
    private func call<Answer>(_ closure: () throws -> Answer) rethrows -> Answer {
        monitor.notifyAll()
        return try monitor.withoutLock(closure)
    }

    private func receiveNow() throws -> Bool {
        let count = try buffer.withUnsafeMutableBytes { try socket.read(into: $0) }
        guard count > 0 else { return false }
        do {
            try take(count)
        } catch {
            // The client gets the reason first.
            try flush()
            throw error
        }
        try flush()
        return true
    }

    private func take(_ count: Int) throws {
        let bytes = Array(buffer[..<count])
        try bytes.withUnsafeBytes { input in
            var position = 0
            while let event = try machine.receive(input, &position) { try handle(event, input) }
        }
    }

    private func handle(_ event: HTTP2Event, _ input: UnsafeRawBufferPointer) throws {
        switch event {
        case .headers(let stream, .request(let head), let endStream):
            try begin(stream, head)
            if endStream || head.connectProtocol != nil {
                if !endStream, early[stream]?.body.takesConnection != false { tunnels[stream] = Received() }
                end(stream)
            } else if early[stream] == nil, head.fields[.expect]?.lowercased() == "100-continue" {
                try send([.init(100)], on: stream)
            }
        case .data(let stream, let range, let count, let endStream) where tunnels[stream] != nil:
            // The client may send more when these bytes are read.
            tunnels[stream]?.bytes += input[range]
            tunnels[stream]?.windowBytes += count
            if endStream { endedTunnels.insert(stream) }
        case .data(let stream, let range, let count, let endStream):
            try take(UnsafeRawBufferPointer(rebasing: input[range]), on: stream)
            machine.didConsume(count, on: stream)
            if endStream { end(stream) }
        case .headers(let stream, .trailers(let fields), _):
            incomplete[stream]?.trailers = fields
            if tunnels[stream] != nil { endedTunnels.insert(stream) }
            end(stream)
        case .streamReset(let stream, _), .streamFailed(let stream, _):
            incomplete[stream] = nil
            endedTunnels.insert(stream)
        case .headers, .ready, .streamClosed, .goAway, .settingsChanged, .settingsAcknowledged, .pingAcknowledged,
            .windowOpened:
            break
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer, on stream: HTTP2StreamID) throws {
        incomplete[stream]?.bodyLength += UInt64(bytes.count)
        guard let receive = options.receiveBody, let request = incomplete[stream] else {
            incomplete[stream]?.body += bytes
            return
        }
        try call { try receive(request, bytes) }
    }

    private func begin(_ stream: HTTP2StreamID, _ head: HTTP2RequestHead) throws {
        var fields = head.fields
        if let authority = head.authority, !fields.contains(.host) { fields.append(.host, authority) }
        var request = connection.request(
            head.method, head.path ?? head.authority ?? "", fields, number: requestCount)
        request.connectProtocol = head.connectProtocol
        requestCount += 1
        incomplete[stream] = request
        if let beforeBody = options.beforeBody, let response = try call({ try beforeBody(request) }) {
            early[stream] = response
            return end(stream)
        }
        guard let interimResponses = options.interimResponses else { return }
        let interims = try call { try interimResponses(request) }
        try send(interims, on: stream)
        // The recipient of the body may wait for the client's next action.
        try flush()
    }

    private func end(_ stream: HTTP2StreamID) {
        if let request = incomplete.removeValue(forKey: stream) { complete.append((stream, request)) }
    }

    // MARK: Sending

    private func flush() throws {
        machine.drainControlBytes(into: &output)
        guard !output.isEmpty else { return }
        try socket.write(output)
        output.removeAll(keepingCapacity: true)
    }

    private func send(_ interims: [ServerResponse.Interim], on stream: HTTP2StreamID) throws {
        for interim in interims {
            try machine.sendResponse(interim.status, interim.fields, on: stream, endStream: false, to: &output)
        }
    }

    /// Called without the lock, because the route may take long.
    private func answer(_ request: ServerRequest, on stream: HTTP2StreamID) throws {
        let response = try monitor.withLock { early.removeValue(forKey: stream) } ?? connection.route(request)
        do {
            try monitor.withLock {
                if !response.body.takesConnection { try forgetTunnel(stream) }
                try send(response.interim, on: stream)
            }
            try send(response, to: request, on: stream)
        } catch let error as HTTP2Error where error.scope == .call {
            // The client has closed the stream: the other streams continue.
            try monitor.withLock {
                machine.sendReset(stream, .cancel, to: &output)
                try forgetTunnel(stream)
            }
        }
        try monitor.withLock { try flush() }
    }

    /// Called without the lock.
    private func send(_ response: ServerResponse, to request: ServerRequest, on stream: HTTP2StreamID) throws {
        var fields = response.fields
        let hasBody = request.method != "HEAD" && response.status != 204 && response.status != 304
        switch response.body {
        case .bytes(let body):
            if !fields.contains(.contentLength), hasBody || request.method == "HEAD" {
                fields.append(.contentLength, "\(body.count)")
            }
            let endsAtOnce = !hasBody || (body.isEmpty && response.trailers.isEmpty)
            try monitor.withLock {
                try machine.sendResponse(response.status, fields, on: stream, endStream: endsAtOnce, to: &output)
                guard !endsAtOnce else { return }
                try body.withUnsafeBytes { try write($0, stream) }
                try finish(stream, response.trailers)
            }
        case .stream(let framing, let write):
            if case .length(let count) = framing, !fields.contains(.contentLength) {
                fields.append(.contentLength, "\(count)")
            }
            try monitor.withLock {
                try machine.sendResponse(response.status, fields, on: stream, endStream: !hasBody, to: &output)
            }
            guard hasBody else { return }
            let writer = ResponseBodyWriter(
                request, trailers: response.trailers,
                send: { bytes in try self.monitor.withLock { try self.write(bytes, stream) } },
                waitUntilClosed: {
                    try self.monitor.withLock { while self.machine.isOpen(stream), try self.receive() {} }
                })
            try write(writer)
            try monitor.withLock { try finish(stream, writer.trailers) }
        case .tunnel(let run):
            try monitor.withLock {
                try machine.sendResponse(response.status, fields, on: stream, endStream: false, to: &output)
                try flush()
                tunnelThreads.append(try WorkerThread { self.carry(run, response.trailers, stream) })
            }
        case .takeOver:
            try monitor.withLock {
                machine.sendReset(stream, .http11Required, to: &output)
                try forgetTunnel(stream)
            }
        }
    }

    // MARK: Streams that have switched

    /// Called on the stream's own thread, without the lock.
    private func carry(_ run: (ServerTunnel) throws -> Void, _ trailers: HTTPFields, _ stream: HTTP2StreamID) {
        do {
            try run(
                ServerTunnel(
                    receive: { try self.monitor.withLock { try self.read(stream) } },
                    send: { bytes in
                        try self.monitor.withLock { try bytes.withUnsafeBytes { try self.write($0, stream) } }
                    }))
            try monitor.withLock {
                try forgetTunnel(stream)
                if machine.isOpen(stream), !hasEnded { try finish(stream, trailers) }
                try flush()
            }
        } catch {
            monitor.withLock {
                guard !hasEnded else { return }
                // Where the client has closed the stream, the other streams continue.
                if machine.isOpen(stream) || error is ServerExchange.Interrupted { return end(because: error) }
                do {
                    try forgetTunnel(stream)
                } catch {
                    end(because: error)
                }
            }
        }
    }

    /// Drops the bytes that a switched stream has not read. They no longer count for the connection's window.
    private func forgetTunnel(_ stream: HTTP2StreamID) throws {
        guard let received = tunnels.removeValue(forKey: stream), !hasEnded else { return }
        machine.didConsume(received.windowBytes, on: stream)
        try flush()
    }

    /// Called without the lock: waits for the threads.
    private func endTunnels() {
        let threads = monitor.withLock {
            hasEnded = true
            monitor.notifyAll()
            return tunnelThreads
        }
        for thread in threads { thread.join() }
    }

    /// Blocks until bytes have arrived for a switched stream; empty when the client has ended it.
    private func read(_ stream: HTTP2StreamID) throws -> [UInt8] {
        while let received = tunnels[stream], received.bytes.isEmpty, !endedTunnels.contains(stream) {
            guard try receive() else { return [] }
        }
        guard let received = tunnels[stream] else { return [] }
        tunnels[stream] = Received()
        machine.didConsume(received.windowBytes, on: stream)
        try flush()
        return received.bytes
    }

    private func finish(_ stream: HTTP2StreamID, _ trailers: HTTPFields) throws {
        guard trailers.isEmpty else { return try machine.sendTrailers(trailers, on: stream, to: &output) }
        try machine.sendDataHeader(0, on: stream, endStream: true, to: &output)
    }

    /// Blocks until all bytes have been sent. The client may have to open its flow-control windows first.
    private func write(_ bytes: UnsafeRawBufferPointer, _ stream: HTTP2StreamID) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(machine.sendableBytes(on: stream), rest.count)
            if count == 0, machine.isOpen(stream) {
                guard try receive() else { throw ClientClosed() }
                continue
            }
            // Fails where the client has closed the stream.
            try machine.sendDataHeader(count, on: stream, endStream: false, to: &output)
            output.append(contentsOf: rest.prefix(count))
            rest = rest.dropFirst(count)
            try flush()
        }
    }
}
