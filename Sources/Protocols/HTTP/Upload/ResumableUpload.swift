import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Loads an upload task's request so that the upload continues after its connection is lost, if the server supports
/// this. One exchange after the other sends the request, retrieves the server's offset, and sends the rest of the body.
final class ResumableUpload: LoopHandler, @unchecked Sendable {  // confined to `resources.loop`
    private(set) var request: URLRequest
    let resources: LoadResources
    let task: URLSessionUploadTask
    var state: UploadState
    private(set) var receiver: (any LoadReceiver)?
    private(set) var exchange: (any LoopHandler)?
    private(set) var exchangeRequest: URLRequest
    /// The body bytes that the exchange has sent, and has to send if that is known.
    var sent: Int64 = 0
    private(set) var expected: Int64?
    private var timer: LoopTimer?
    /// Follows after a response that the program does not get.
    var actionAfterResponse: UploadState.Action?
    var discarded = 0
    /// Waits until the receiver is ready: a suspended task sends no requests.
    private var postponed: UploadState.Action?
    private var isReceiverBusy = false
    /// Whether the body was replaced after the resume data was made.
    private let isAltered: Bool

    /// Nil for a request without a body, and for a program that implements such a protocol itself or has disabled it.
    init?(_ request: URLRequest, _ task: URLSessionUploadTask, _ resources: LoadResources) {
        guard resources.core.settings.attemptsResumableUploads || task.resumption?.isFromResumeData == true else {
            return nil
        }
        if let resumption = task.resumption {
            // Another load of the task continues with the resumption.
            if resumption.isInUse { return nil }
            isAltered = !resumption.continues(with: request) && resumption.isFromResumeData
            if !resumption.continues(with: request), !isAltered { task.resumption = nil }
        } else {
            isAltered = false
        }
        guard task.resumption != nil || Self.canBegin(request) else { return nil }
        self.request = request
        self.resources = resources
        self.task = task
        exchangeRequest = request
        state = UploadState(
            total: Self.length(of: request), isDivisible: request.httpBody != nil || request.bodyFile != nil,
            resumption: task.resumption)
    }

    private static func canBegin(_ request: URLRequest) -> Bool {
        switch request.httpMethod ?? "GET" {
        case "GET", "HEAD", "CONNECT", "TRACE", "OPTIONS", "DELETE": false
        case _: request.hasBody && length(of: request) != 0 && !UploadField.areUsed(in: request.fields)
        }
    }

    private static func length(of request: URLRequest) -> Int64? {
        let count = RequestBody(request).expectedCount
        return request.hasBody && count >= 0 ? count : nil
    }

    private var session: HTTPSession { HTTPSession.of(resources.core) }

    // MARK: LoopHandler

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        guard !isAltered else { return receiver.fail(LoadFailure.altered) }
        task.resumption?.isInUse = true
        perform(state.begin())
    }

    func end() {
        receiver = nil
        timer?.cancel()
        exchange?.end()
        exchange = nil
        task.resumption?.isInUse = false
    }

    var stall: String? { exchange?.stall }

    func receiverDidBlock() {
        isReceiverBusy = true
        exchange?.receiverDidBlock()
    }

    func takeConnection() throws -> TakenConnection? { try exchange?.takeConnection() }

    func receiverDidBecomeReady() {
        isReceiverBusy = false
        if let action = postponed.take() { return perform(action) }
        exchange?.receiverDidBecomeReady()
    }

    // MARK: Actions

    func perform(_ action: UploadState.Action) {
        guard receiver != nil else { return }
        if isReceiverBusy, action.sendsRequest {
            endExchange()
            postponed = action
            return
        }
        // The host may require `https` since a response that another task got (RFC 6797 §8.3).
        if action.sendsRequest { request = HSTS.applied(to: request, resources) }
        switch action {
        case .nothing: break
        case .create:
            send(request, HTTPProtocolHandler.makeExchange(request, resources, adding: creationFields), of: nil)
        case .retrieve:
            endExchange()
            let question = makeQuestion()
            send(question, HTTPExchange(question, resources, session), of: nil)
        case .append(let part): append(part)
        case .pause(let seconds):
            endExchange()
            // Nothing is to come from the server meanwhile.
            receiver?.queueStateDidChange(isQueued: true)
            timer = resources.loop.schedule(at: resources.loop.now.advanced(bySeconds: seconds)) { [weak self] in
                guard let self else { return }
                timer = nil
                receiver?.queueStateDidChange(isQueued: false)
                perform(state.pauseDidEnd())
            }
        case .fail(let error):
            noteResource()
            receiver?.fail(error)
        }
    }

    private func append(_ part: UploadState.Part) {
        endExchange()
        guard request.httpBody == nil, request.bodyFile == nil else { return send(part, request.part(part)) }
        receiver?.requestNewBodyStream(from: part.offset) { [weak self] stream in
            guard let self, receiver != nil, state.step == .appending(part) else { return }
            guard let stream else {
                return perform(state.requestDidFail(LoadFailure.withoutStream(part.offset), isInterruption: false))
            }
            var next = request
            next.httpBodyStream = stream
            if let count = part.count { next.fields.set(.contentLength, "\(count)") }
            send(part, next)
        }
    }

    private func send(_ part: UploadState.Part, _ request: URLRequest) {
        task.bodyGoesOn(at: part.offset, of: state.total)
        guard let resource = resourceOfUser else { return }
        let next = request.appending(part, to: resource)
        let exchange = HTTPExchange(next, resources, session)
        // If the connection is lost, the server's offset is retrieved.
        exchange.replays.hasUploadBegun = true
        send(next, exchange, of: part)
    }

    private func send(_ request: URLRequest, _ next: any LoopHandler, of part: UploadState.Part?) {
        exchangeRequest = request
        exchange = next
        (sent, expected) = (0, part == nil ? state.total : part?.count)
        discarded = 0
        next.begin(self)
        if isReceiverBusy { exchange?.receiverDidBlock() }
    }

    private func endExchange() {
        exchange?.end()
        exchange = nil
    }

    private func makeQuestion() -> URLRequest {
        var question = request.withoutContent
        question.httpMethod = "HEAD"
        question.url = resourceOfUser
        question.setValue("\(UploadField.spokenVersion)", forHTTPHeaderField: UploadField.interopVersion)
        return question
    }

    /// The resource at which the upload continues. It has the request's origin, also if HSTS has changed that since the
    /// server named the resource.
    private var resource: URL? {
        guard let resource = state.resource, request.url?.hasScheme("https") == true else { return state.resource }
        return resource.withHTTPS ?? resource
    }

    /// The resource with the user who began the upload.
    private var resourceOfUser: URL? { resource?.withCredentials(of: request.url) }

    private var creationFields: HTTPFields {
        var fields = HTTPFields()
        fields.append(name: UploadField.complete, value: "?1")
        fields.append(name: UploadField.interopVersion, value: "\(UploadField.spokenVersion)")
        return fields
    }

    func noteResource() {
        guard let resource else {
            task.resumption = nil
            return
        }
        if task.resumption == nil {
            task.resumption = UploadResumption(request, firstURL: task.firstURL, at: resource)
        }
        task.resumption?.setResource(resource)
    }
}

extension UploadState.Action {
    var sendsRequest: Bool {
        switch self {
        case .create, .retrieve, .append: true
        case .nothing, .pause, .fail: false
        }
    }
}

extension URLRequest {
    /// A request with a part of the body, from data or a file.
    fileprivate func part(_ part: UploadState.Part) -> URLRequest {
        var request = self
        let count = part.count ?? 0
        if let data = httpBody {
            let start = data.startIndex + Int(clamping: part.offset)
            request.httpBody = data.subdata(in: start..<start + Int(clamping: count))
        } else {
            request.bodyFile = bodyFile?.part(from: part.offset, count: count)
        }
        return request
    }

    fileprivate func appending(_ part: UploadState.Part, to resource: URL) -> URLRequest {
        var request = withoutContentFields
        request.url = resource
        request.httpMethod = "PATCH"
        request.setValue(UploadField.partType, forHTTPHeaderField: "Content-Type")
        request.setValue("\(part.offset)", forHTTPHeaderField: UploadField.offset)
        request.setValue(part.isLast ? "?1" : "?0", forHTTPHeaderField: UploadField.complete)
        request.setValue("\(UploadField.spokenVersion)", forHTTPHeaderField: UploadField.interopVersion)
        return request
    }

    fileprivate var withoutContent: URLRequest {
        var request = withoutContentFields
        request.httpBody = nil
        request.httpBodyStream = nil
        request.fields.remove(.contentLength)
        return request
    }

    /// The request without the fields that describe the body or apply only to the first request.
    private var withoutContentFields: URLRequest {
        var request = self
        for name in request.fields.map(\.name) {
            let folded = name.lowercased()
            let isOfContent = folded.hasPrefix("content-") && folded != "content-length"
            let isOfFirst = ["expect", "range", "repr-digest", "digest", "idempotency-key"].contains(folded)
            if isOfContent || isOfFirst || folded.hasPrefix("if-") { request.setValue(nil, forHTTPHeaderField: name) }
        }
        return request
    }
}

extension LoadFailure {
    fileprivate static var altered: LoadFailure {
        LoadFailure(
            .cannotDecodeRawData, "the resume data cannot be used: an interceptor has replaced the request or its body")
    }

    fileprivate static func withoutStream(_ offset: Int64) -> LoadFailure {
        LoadFailure(
            .requestBodyStreamExhausted,
            "the upload continues at byte \(offset), and the delegate gave no stream from there (needNewBodyStreamFrom)"
        )
    }
}
