import Glibc
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// Handles the requests that the server lets in.
protocol InspectorRequestHandler: AnyObject {
    /// The access of the server; nil when it is closed.
    var access: InspectorAccess? { get }
    /// The page, with its policy.
    func page() -> (bytes: [UInt8], policy: String)
    /// The connection follows the events from now on.
    func didOpenEvents(_ connection: InspectorConnection)
    /// Performs an action of the page. Nil where that is done; otherwise the reason why not.
    func perform(_ action: [UInt8]) -> String?
    func didClose(_ connection: InspectorConnection)
}

/// A connection of a browser to the inspector. Each has one request. Confined to the server's event loop.
final class InspectorConnection {
    /// The largest request of a page: a body that the user has changed.
    private static let longestRequest = 32 << 20
    /// The bytes that wait for a page. One that takes them too slowly misses events.
    private static let mostWaitingBytes = 32 << 20

    private enum State {
        case reading
        /// The response is sent, then the connection is closed.
        case answering
        case sendingEvents
        case closed
    }

    /// Whether the request was let in. Other connections are closed first where there are too many.
    private(set) var isAdmitted = false
    private let socket: LocalSocket
    private weak var handler: (any InspectorRequestHandler)?
    private var parser = RequestParser()
    private var body: [UInt8] = []
    private var head: RequestHead?
    private var state = State.reading
    private var output: [UInt8] = []
    /// The bytes of the output that are sent.
    private var sentCount = 0
    private var isMissingEvents = false

    init(_ socket: LocalSocket, _ handler: any InspectorRequestHandler) {
        self.socket = socket
        self.handler = handler
    }

    func start() {
        socket.didBecomeReady = { [self] in socketDidBecomeReady() }
        if socket.watch() != nil { return close() }
        socketDidBecomeReady()
    }

    func close() {
        if case .closed = state { return }
        state = .closed
        socket.close()
        handler?.didClose(self)
    }

    private func socketDidBecomeReady() {
        flush()
        read()
    }

    // MARK: Reading

    private func read() {
        let buffer = socket.loop.scratch
        while socket.isOpen {
            var descriptors: [OwnedDescriptor] = []
            switch socket.receive(buffer, descriptors: &descriptors) {
            case .success(0): return close()
            case .success(let count): receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            case .failure(let failure): return failure.code == EAGAIN ? () : close()
            }
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        // Whatever follows the request is not read.
        guard case .reading = state else { return }
        var position = 0
        do {
            while case .reading = state, let event = try parser.next(bytes, &position) { try take(event, bytes) }
        } catch let refusal as InspectorAccess.Refusal {
            answer(refusal.rawValue)
        } catch {
            answer(400)
        }
    }

    private func take(_ event: RequestParser.Event, _ bytes: UnsafeRawBufferPointer) throws {
        switch event {
        case .head(let head, _):
            guard let access = handler?.access else { return close() }
            _ = try access.resource(head)
            isAdmitted = true
            self.head = head
        case .body(let range):
            body += bytes[range]
            if body.count > Self.longestRequest { answer(413) }
        case .trailers: break
        case .end: try answer()
        }
    }

    // MARK: Answering

    private func answer() throws {
        guard let handler, let head, let access = handler.access else { return close() }
        switch try access.resource(head) {
        case .page:
            let page = handler.page()
            answer(200, "text/html; charset=utf-8", page.bytes, policy: page.policy)
        case .events:
            state = .sendingEvents
            // A browser that loses the connection tries again after this time.
            send(Self.head(200, "text/event-stream", length: nil) + Array("retry: 1000\n\n".utf8))
            // If that has failed, the connection is closed.
            if case .sendingEvents = state { handler.didOpenEvents(self) }
        case .actions:
            if let reason = handler.perform(body) {
                answer(422, "text/plain; charset=utf-8", Array(reason.utf8))
            } else {
                answer(204)
            }
        }
    }

    private func answer(
        _ status: Int, _ type: String = "text/plain", _ content: [UInt8] = [], policy: String = "default-src 'none'"
    ) {
        state = .answering
        send(Self.head(status, type, length: content.count, policy: policy) + content)
    }

    private static func head(
        _ status: Int, _ type: String, length: Int?, policy: String = "default-src 'none'"
    ) -> [UInt8] {
        // Neither stored nor framed nor read by another origin.
        var lines = [
            "HTTP/1.1 \(status) ", "Content-Type: \(type)", "Connection: close", "Cache-Control: no-store",
            "Content-Security-Policy: \(policy); frame-ancestors 'none'", "X-Content-Type-Options: nosniff",
            "X-Frame-Options: DENY", "Referrer-Policy: no-referrer", "Cross-Origin-Resource-Policy: same-origin",
            "Cross-Origin-Opener-Policy: same-origin",
        ]
        if let length, status != 204 { lines.append("Content-Length: \(length)") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private var waitingCount: Int { output.count - sentCount }

    /// Whether the page takes what it gets.
    var hasRoom: Bool { waitingCount < Self.mostWaitingBytes / 4 }

    /// Sends a message to a page. Where the page is too slow, it is told that messages are missing.
    func send(event json: String) {
        guard case .sendingEvents = state else { return }
        guard waitingCount < Self.mostWaitingBytes else { return isMissingEvents = true }
        if isMissingEvents, waitingCount < Self.mostWaitingBytes / 2 {
            isMissingEvents = false
            send(Array("data: {\"type\":\"gap\"}\n\n".utf8))
        }
        send(Array("data: \(json)\n\n".utf8))
    }

    private func send(_ bytes: [UInt8]) {
        if sentCount > output.count / 2 {
            output.removeFirst(sentCount)
            sentCount = 0
        }
        output += bytes
        flush()
    }

    private func flush() {
        while sentCount < output.count, socket.isOpen {
            let result = output.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[sentCount...])) }
            switch result {
            case .success(let count): sentCount += count
            case .failure(let failure) where failure.code == EAGAIN: return
            case .failure: return close()
            }
        }
        (output, sentCount) = ([], 0)
        if case .answering = state { close() }
    }
}
