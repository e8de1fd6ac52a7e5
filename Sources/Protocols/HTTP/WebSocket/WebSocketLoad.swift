import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitWebSocket

/// Opens a WebSocket connection with an HTTP exchange, whose stream carries messages afterwards.
final class WebSocketLoad: LoopHandler, @unchecked Sendable {  // confined to `resources.loop`
    private let request: URLRequest
    private let resources: LoadResources
    /// Whether the program's URL has the scheme `ws` or `wss`. If so, all URLs that the program gets have these
    /// schemes, too.
    private let hasOwnScheme: Bool
    private var handshake: WebSocketHandshake
    private var exchange: HTTPExchange?
    private var connection: WebSocketConnection?
    private(set) var receiver: (any LoadReceiver)?
    private var isCollected = false
    /// Whether the receiver takes no bytes, for example because the task is suspended.
    private var isReceiverBusy = false

    init(_ request: URLRequest, _ resources: LoadResources) {
        self.request = request
        self.resources = resources
        hasOwnScheme = request.url.map(WebSocketURL.isWebSocket) ?? false
        handshake = WebSocketHandshake(subprotocols: Self.subprotocols(of: request))
    }

    private static func subprotocols(of request: URLRequest) -> [String] {
        let names = request.value(forHTTPHeaderField: "Sec-WebSocket-Protocol")?.split(separator: ",") ?? []
        return names.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// The request of the handshake: a GET without a body (RFC 6455 §4.1).
    private var handshakeRequest: URLRequest {
        var request = request
        request.url = request.url.map(WebSocketURL.http)
        request.httpMethod = "GET"
        request.httpBody = nil
        request.httpBodyStream = nil
        return HSTS.applied(to: request, resources)
    }

    private var link: WebSocketLink? { (resources.task as? URLSessionWebSocketTask)?.link }

    // MARK: LoopHandler

    func begin(_ receiver: any LoadReceiver) {
        guard link != nil else {
            return receiver.fail(
                LoadFailure(.unsupportedURL, "ws: and wss: URLs are for WebSocket tasks: use webSocketTask(with:)"))
        }
        self.receiver = receiver
        let exchange = HTTPExchange(
            handshakeRequest, resources, HTTPSession.of(resources.core), upgrade: self)
        self.exchange = exchange
        exchange.begin(self)
    }

    func end() {
        connection?.stop()
        exchange?.end()
        exchange = nil
        receiver = nil
    }

    var stall: String? { exchange?.stall }

    func receiverDidBlock() {
        isReceiverBusy = true
        exchange?.receiverDidBlock()
    }

    func receiverDidBecomeReady() {
        isReceiverBusy = false
        connection?.proceed()
        readOn()
    }

    /// Continues reading, unless the task is suspended or its link is full.
    private func readOn() { if !isReceiverBusy, connection?.isWaiting != true { exchange?.receiverDidBecomeReady() } }

    // MARK: The end

    private func connectionDidEnd(_ end: WebSocketConnection.End) {
        if case .failed(_, let code) = end { link?.connectionDidBreak(code) }
        exchange?.upgradeDidEnd()
        switch end {
        case .closed: receiver?.finish()
        case .failed(let error, _): receiver?.fail(error)
        }
    }
}

// MARK: - HTTPUpgrade

extension WebSocketLoad: HTTPUpgrade {
    var name: String { "websocket" }

    func addFields(to fields: inout HTTPFields) {
        // Each request has a key of its own.
        handshake = WebSocketHandshake(subprotocols: handshake.subprotocols)
        handshake.addFields(to: &fields)
        fields.remove(.secWebSocketKey)
    }

    func addUpgradeFields(to fields: inout HTTPFields) { handshake.addUpgradeFields(to: &fields) }

    func serverDidGrant(_ head: ResponseHead) throws {
        guard let link else { return }
        guard link.isConnecting else {
            throw LoadFailure(
                .badServerResponse, "the WebSocket was opened before: an interceptor has loaded its request twice")
        }
        let agreement =
            head.status == 101 ? try handshake.agreement(upgrade: head.fields) : try handshake.agreement(head.fields)
        let connection = WebSocketConnection(agreement, link, resources.loop)
        connection.onOutput = { [weak self] in self?.exchange?.outputDidBecomeReady() }
        connection.onReady = { [weak self] in self?.readOn() }
        connection.onEnd = { [weak self] end in self?.connectionDidEnd(end) }
        self.connection = connection
    }

    func takeOutput(_ buffer: inout [UInt8]) { connection?.takeOutput(&buffer) }
    func outputDidProgress() { connection?.outputDidProgress() }
    func takeLastOutput(_ buffer: inout [UInt8]) { connection?.takeLastOutput(&buffer) }
}

// MARK: - LoadReceiver

extension WebSocketLoad: ForwardingReceiver {
    func receive(_ response: URLResponse) -> Flow {
        guard let receiver else { return .wait }
        let flow = receiver.receive((response as? HTTPURLResponse).map(translated) ?? response)
        if flow == .wait { isReceiverBusy = true }
        if let connection {
            // The link is opened after the response is delivered, so that the program can look at it then.
            link?.open(connection, subprotocol: connection.subprotocol)
            return flow
        }
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        exchange?.reportTransaction()
        receiver.fail(
            LoadFailure(.badServerResponse, "the server answered the WebSocket handshake with status \(status)"))
        return .wait
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        guard let connection else { return .wait }
        return connection.receive(bytes) == .wait || isReceiverBusy ? .wait : .more
    }

    func receive(informational response: HTTPURLResponse) { receiver?.receive(informational: translated(response)) }
    func receive(_ data: Data) -> Flow { data.withUnsafeBytes { receive($0) } }
    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? { nil }

    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        let response = (response as? HTTPURLResponse).map(translated) ?? response
        receiver?.redirect(to: translated(request), refusal: refusal, response: response, decide: decide)
    }

    /// Frames are not a request's body.
    func didSendBody(_ count: Int, expected: Int64) {}
    func bodyWillBeSentAgain(_ count: Int64) {}

    /// An open connection's transaction is collected when the connection ends. Both the exchange and the connection may
    /// report it.
    func collect(_ transaction: @autoclosure () -> TransactionRecord) {
        guard !isCollected else { return }
        isCollected = connection != nil
        receiver?.collect(translated(transaction()))
    }

    /// The connection has ended. Before the connection is open, this event is the end of a refusal's body and is
    /// ignored.
    func finish() { connection?.connectionDidEnd(with: nil) }

    func fail(_ error: any Error) {
        if let connection { connection.connectionDidEnd(with: error) } else { receiver?.fail(error) }
    }

    // MARK: Schemes

    private func translated(_ transaction: TransactionRecord) -> TransactionRecord {
        TransactionRecord(
            timings: transaction.timings, request: translated(transaction.request),
            response: (transaction.response as? HTTPURLResponse).map(translated), sentLines: transaction.sentLines)
    }

    private func translated(_ request: URLRequest) -> URLRequest {
        guard hasOwnScheme else { return request }
        var request = request
        request.url = request.url.map(WebSocketURL.webSocket)
        return request
    }

    private func translated(_ response: HTTPURLResponse) -> HTTPURLResponse {
        guard hasOwnScheme, let url = response.url else { return response }
        return HTTPURLResponse(
            url: WebSocketURL.webSocket(url), statusCode: response.statusCode, httpVersion: response.httpVersion,
            fields: response.fields, expectedContentLength: response.expectedContentLength)
    }
}

/// Opens WebSocket connections to `ws` and `wss` URLs. WebSocket tasks with `http` and `https` URLs are loaded in the
/// same way.
public final class WebSocketHandler: URLProtocolHandler, LoopNativeHandler, @unchecked Sendable {  // stateless
    /// Whether the URL's scheme is `ws` or `wss`.
    public override class func canInit(with request: URLRequest) -> Bool {
        request.url.map(WebSocketURL.isWebSocket) ?? false
    }

    package static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler {
        WebSocketLoad(request, resources)
    }
}
