import Foundation
import LoadingKitCore
import LoadingKitHAR
import LoadingKitTransport

/// Decides which loads are held, and is told of them. Called on a session's event loop.
protocol LoadHolder: AnyObject, Sendable {
    var redactor: Redactor { get }
    func holds(_ stage: HoldRule.Stage, _ request: URLRequest) -> Bool
    /// A number that no other held load has.
    func makeNumber() -> Int
    func didHold(_ load: HeldLoad)
    func didRelease(_ load: HeldLoad)
}

/// A load that waits for the page's decision before its request is sent, before its response is delivered, or both.
///
/// ```
///   new ──▶ request held ──▶ loading ──▶ collecting ──▶ response held ──▶ delivering ──▶ over
///    └───────────────────────▲  └───────────────────────────────────────────────────────▲ │
///                            └──────────────────── the rest of a long body ───────────────┘
/// ```
final class HoldingLoad: LoopHandler, @unchecked Sendable {  // confined to the session's event loop
    /// A longer body is delivered as it comes, unchanged.
    private static let longestBody = 8 << 20
    /// A response whose body takes longer is held with its head alone, in seconds.
    private static let longestCollecting = 2.0

    private enum State {
        case new
        case requestHeld(HeldLoad)
        case loading
        case collecting(HTTPURLResponse, Data, LoopTimer)
        case responseHeld(HeldLoad, HTTPURLResponse, Data, isWhole: Bool)
        case delivering
        case over
    }

    /// A part of the response that the receiver has not got yet.
    private enum Piece {
        case response(URLResponse)
        case data(Data)
        case finish
        case failure(any Error)
    }

    private let request: URLRequest
    private let resources: LoadResources
    private let holder: any LoadHolder
    private let make: (URLRequest) throws -> any LoopHandler
    private var inner: (any LoopHandler)?
    private(set) var receiver: (any LoadReceiver)?
    private var state = State.new
    private var pieces: ArraySlice<Piece> = []
    private var isBlocked = false
    /// Whether the inner load waits until it may deliver more.
    private var isInnerWaiting = false
    /// Whether the beginning of the response's body was collected, without its coded form.
    private var hasCollected = false

    init(
        _ request: URLRequest, _ resources: LoadResources, _ holder: any LoadHolder,
        _ make: @escaping (URLRequest) throws -> any LoopHandler
    ) {
        (self.request, self.resources, self.holder, self.make) = (request, resources, holder, make)
    }

    // MARK: LoopHandler

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        guard holder.holds(.request, request) else { return load(request) }
        let held = hold(response: nil)
        state = .requestHeld(held)
        // A held load has no timeout for silence.
        receiver.queueStateDidChange(isQueued: true)
        holder.didHold(held)
    }

    func end() {
        let last = state
        state = .over
        switch last {
        case .requestHeld(let held), .responseHeld(let held, _, _, _): holder.didRelease(held)
        case .collecting(_, _, let timer): timer.cancel()
        case .new, .loading, .delivering, .over: break
        }
        inner?.end()
        (inner, receiver, pieces) = (nil, nil, [])
    }

    func receiverDidBlock() {
        isBlocked = true
        if case .loading = state { inner?.receiverDidBlock() }
    }

    func receiverDidBecomeReady() {
        isBlocked = false
        switch state {
        case .loading: inner?.receiverDidBecomeReady()
        case .delivering: deliver()
        case .new, .requestHeld, .collecting, .responseHeld, .over: break
        }
    }

    var stall: String? { inner?.stall }

    func answerAtDeadline() -> Bool { inner?.answerAtDeadline() ?? false }

    func takeConnection() throws -> TakenConnection? { try inner?.takeConnection() }

    // MARK: Holding

    private func hold(response: ShownMessage?) -> HeldLoad {
        let (body, note) = Self.body(of: request)
        let shown = ShownMessage(
            .request(method: request.httpMethod ?? "GET", url: request.url?.absoluteString ?? ""),
            request.headerFields, body: body, bodyNote: note, isDecoded: false, holder.redactor)
        let number = holder.makeNumber()
        return HeldLoad(
            number: number, session: resources.core.identity, task: resources.task.identifier, request: shown,
            response: response
        ) { [weak self, loop = resources.loop] decision in
            loop.execute { [weak self] in self?.take(decision, about: number) }
        }
    }

    private static func body(of request: URLRequest) -> (bytes: [UInt8]?, note: String) {
        if request.httpBodyStream != nil { return (nil, "The body is a stream of the program.") }
        if request.bodyFile != nil { return (nil, "The body is a file of the program.") }
        guard let data = request.httpBody else { return ([], "") }
        guard data.count <= longestBody else { return (nil, "The body is too long: \(data.count) bytes.") }
        return ([UInt8](data), "")
    }

    private func take(_ decision: HeldLoad.Decision, about number: Int) {
        switch state {
        case .requestHeld(let held) where held.number == number:
            release(held)
            switch decision {
            case .proceed(let edited): load(edited.map(changed) ?? request)
            case .answer(let edited): answer(with: edited)
            case .fail: failByPage()
            }
        case .responseHeld(let held, let response, let data, let isWhole) where held.number == number:
            release(held)
            switch decision {
            case .proceed(let edited?): deliver(edited, in: response, data, isWhole: isWhole)
            case .proceed(nil): deliver(response, data, isWhole: isWhole)
            case .answer, .fail: failByPage()
            }
        case .new, .requestHeld, .loading, .collecting, .responseHeld, .delivering, .over: break
        }
    }

    private func release(_ held: HeldLoad) {
        holder.didRelease(held)
        receiver?.queueStateDidChange(isQueued: false)
    }

    private func failByPage() {
        state = .over
        receiver?.fail(LoadFailure(.networkConnectionLost, "the load was made to fail in the inspector"))
    }

    // MARK: The request

    private func load(_ request: URLRequest) {
        state = .loading
        do {
            let inner = try make(request)
            self.inner = inner
            inner.begin(self)
            if isBlocked, case .loading = state { inner.receiverDidBlock() }
        } catch {
            receiver?.fail(error)
        }
    }

    private func changed(_ edited: EditedMessage) -> URLRequest {
        guard case .request(let method, let url) = edited.line else { return request }
        var request = request
        request.httpMethod = method
        if let url = URL(string: url) { request.url = url }
        request.headerFields = edited.fields
        if let body = edited.body, body != request.httpBody.map({ [UInt8]($0) }) ?? [] {
            request.httpBody = body.isEmpty ? nil : Data(body)
        }
        return request
    }

    private func answer(with edited: EditedMessage) {
        guard case .response(let status) = edited.line, let url = request.url else { return failByPage() }
        let body = Data(edited.body ?? [])
        deliver(Self.response(status, edited, url, body), body, isWhole: true)
    }

    private static func response(_ status: Int, _ edited: EditedMessage, _ url: URL, _ body: Data) -> HTTPURLResponse {
        // The body is not encoded, and its length is the new one.
        let others = edited.fields.filter {
            !["content-length", "content-encoding", "transfer-encoding"].contains($0.name.lowercased())
        }
        return HTTPURLResponse(
            url: url, statusCode: status,
            headerFields: others + [(name: "Content-Length", value: String(body.count))])
    }

    // MARK: The response

    private func hold(_ response: HTTPURLResponse, _ data: Data, isWhole: Bool) {
        let note = isWhole ? "" : "The body is longer than what can be changed, or still arrives."
        let isDecoded = response.isDecoded(keepsCodings: resources.core.keepsContentCodings(of: request))
        let shown = ShownMessage(
            .response(status: response.statusCode), response.headerFields, body: isWhole ? [UInt8](data) : nil,
            bodyNote: note, isDecoded: isDecoded, holder.redactor)
        let held = hold(response: shown)
        state = .responseHeld(held, response, data, isWhole: isWhole)
        receiver?.queueStateDidChange(isQueued: true)
        holder.didHold(held)
    }

    private func collectingTookLong() {
        guard case .collecting(let response, let data, _) = state else { return }
        inner?.receiverDidBlock()
        isInnerWaiting = true
        hold(response, data, isWhole: false)
    }

    private func deliver(_ edited: EditedMessage, in response: HTTPURLResponse, _ data: Data, isWhole: Bool) {
        guard case .response(let status) = edited.line else { return failByPage() }
        let url = response.url ?? request.url ?? URL(fileURLWithPath: "/")
        guard isWhole, let body = edited.body else {
            let changed = HTTPURLResponse(
                url: url, statusCode: status, httpVersion: response.httpVersion, headerFields: edited.fields)
            return deliver(changed, data, isWhole: isWhole)
        }
        deliver(Self.response(status, edited, url, Data(body)), Data(body), isWhole: true)
    }

    private func deliver(_ response: URLResponse, _ data: Data, isWhole: Bool) {
        state = .delivering
        // The end of a body that was held as unfinished may have come meanwhile.
        let end = pieces
        pieces = [.response(response)]
        if !data.isEmpty { pieces.append(.data(data)) }
        if isWhole { pieces.append(.finish) } else { pieces += end }
        deliver()
    }

    /// Delivers until the receiver has no room. The load goes on when all is delivered, unless it has ended.
    private func deliver() {
        while case .delivering = state, !isBlocked, let piece = pieces.popFirst() {
            switch piece {
            case .response(let response): isBlocked = receiver?.receive(response) != .more
            case .data(let data): isBlocked = receiver?.receive(data) != .more
            case .finish:
                state = .over
                receiver?.finish()
            case .failure(let error):
                state = .over
                receiver?.fail(error)
            }
        }
        guard case .delivering = state, pieces.isEmpty, !isBlocked else { return }
        state = .loading
        guard isInnerWaiting else { return }
        isInnerWaiting = false
        inner?.receiverDidBecomeReady()
    }
}

extension HoldingLoad: ForwardingReceiver {
    func receive(_ response: URLResponse) -> Flow {
        guard case .loading = state else { return .wait }
        hasCollected = false
        // Bytes after the response to a request for a connection are not a body.
        guard let response = response as? HTTPURLResponse, !(resources.task is URLSessionWebSocketTask),
            !request.requestsConnection, holder.holds(.response, request)
        else { return receiver?.receive(response) ?? .wait }
        let timer = resources.loop.schedule(at: resources.loop.now.advanced(bySeconds: Self.longestCollecting)) {
            [weak self] in self?.collectingTookLong()
        }
        state = .collecting(response, Data(), timer)
        hasCollected = true
        return .more
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        if case .loading = state { return receiver?.receive(bytes) ?? .wait }
        return collect { $0.append(contentsOf: bytes) }
    }

    func receive(_ data: Data) -> Flow {
        if case .loading = state { return receiver?.receive(data) ?? .wait }
        return collect { $0.append(data) }
    }

    /// A changed body has no coded form. Where the beginning of a body was collected, the rest of its coded form
    /// would be taken for the beginning, in the resume data of a download.
    func receive(coded bytes: UnsafeRawBufferPointer) {
        if case .loading = state, !hasCollected { receiver?.receive(coded: bytes) }
    }

    private func collect(_ append: (inout Data) -> Void) -> Flow {
        guard case .collecting(let response, var data, let timer) = state else { return .wait }
        state = .loading  // avoids a copy of the data
        append(&data)
        state = .collecting(response, data, timer)
        receiver?.noteActivity()
        guard data.count > Self.longestBody else { return .more }
        timer.cancel()
        isInnerWaiting = true
        hold(response, data, isWhole: false)
        return .wait
    }

    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? {
        if case .loading = state { receiver?.bodyBuffer(atMost: count) } else { nil }
    }

    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        receiver?.redirect(to: request, refusal: refusal, response: response, decide: decide)
    }

    func finish() {
        switch state {
        case .collecting(let response, let data, let timer):
            timer.cancel()
            hold(response, data, isWhole: true)
        case .responseHeld, .delivering: pieces.append(.finish)
        case .loading: receiver?.finish()
        case .new, .requestHeld, .over: break
        }
    }

    func fail(_ error: any Error) {
        switch state {
        case .collecting(_, _, let timer):
            timer.cancel()
            state = .over
            receiver?.fail(error)
        case .responseHeld, .delivering: pieces.append(.failure(error))
        case .loading: receiver?.fail(error)
        case .new, .requestHeld, .over: break
        }
    }
}
