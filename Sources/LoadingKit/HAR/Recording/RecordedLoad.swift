import Foundation
import LoadingKitCore

/// A load that is recorded: it stands between the load of a request and its receiver, and passes on all events
/// unchanged.
final class RecordedLoad: LoopHandler, @unchecked Sendable {  // confined to the session's event loop
    private let resources: LoadResources
    private let observe: (LoadRecording.Moment, LoadNotes) -> Void
    private var inner: (any LoopHandler)?
    private(set) var receiver: (any LoadReceiver)?
    private var notes: LoadNotes
    /// The memory that the receiver has lent for the next bytes of the body.
    private var lentMemory: UnsafeMutableRawBufferPointer?

    init(
        _ resources: LoadResources, _ notes: LoadNotes, observe: @escaping (LoadRecording.Moment, LoadNotes) -> Void
    ) {
        self.resources = resources
        self.notes = notes
        self.observe = observe
    }

    /// Makes the load. A body that is a stream is copied while it is sent.
    func make(_ request: URLRequest, by make: (URLRequest) throws -> any LoopHandler) throws {
        var request = request
        if let data = request.httpBody {
            notes.sentBody.take(data)
        } else if let stream = request.httpBodyStream {
            request.httpBodyStream = copied(stream)
        }
        do {
            inner = try make(request)
        } catch {
            didEnd(.failure(error))
            throw error
        }
    }

    private func copied(_ stream: InputStream) -> InputStream {
        RecordingInputStream(stream, notes.beginSentBody())
    }

    // MARK: LoopHandler

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        observe(.began, notes)
        resources.task.keepsSentHeads = true
        observeMessages()
        inner?.begin(self)
    }

    func end() {
        guard let receiver, let inner else { return }
        // While there is a receiver: the load may collect its metrics at its end.
        inner.end()
        let result = notes.result ?? Self.result(of: receiver.loadEnd)
        didEnd(result)
        (resources.task as? URLSessionWebSocketTask)?.link?.observeMessage = nil
        (self.receiver, self.inner) = (nil, nil)
    }

    private func didEnd(_ result: Result<Void, any Error>) {
        notes.didEnd(result, at: resources.loop.now)
        observe(.ended, notes)
    }

    /// The result of a load that its receiver ends: a redirect is followed, or the load is no longer needed.
    private static func result(of end: LoadEnd) -> Result<Void, any Error> {
        switch end {
        case .finished, .replaced: .success(())
        case .failed(let error): .failure(error)
        case .cancelled, .sessionInvalidated, .released: .failure(CancellationError())
        }
    }

    func receiverDidBlock() { inner?.receiverDidBlock() }

    func receiverDidBecomeReady() { inner?.receiverDidBecomeReady() }

    var stall: String? { inner?.stall }

    func answerAtDeadline() -> Bool { inner?.answerAtDeadline() ?? false }

    func takeConnection() throws -> TakenConnection? { try inner?.takeConnection() }

    private func observeMessages() {
        guard let link = (resources.task as? URLSessionWebSocketTask)?.link else { return }
        let earlier = link.observeMessage
        link.observeMessage = { [weak self] message, isSent in
            earlier?(message, isSent)
            guard let self else { return }
            notes.note(message, isSent: isSent, at: resources.loop.now)
        }
    }
}

extension RecordedLoad: ForwardingReceiver {
    func receive(_ response: URLResponse) -> Flow {
        notes.didReceive(response, at: resources.loop.now)
        observe(.responded, notes)
        return receiver?.receive(response) ?? .wait
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        notes.receivedBody.append(bytes)
        return receiver?.receive(bytes) ?? .wait
    }

    func receive(_ data: Data) -> Flow {
        notes.receivedBody.append(data)
        return receiver?.receive(data) ?? .wait
    }

    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? {
        lentMemory = receiver?.bodyBuffer(atMost: count)
        return lentMemory
    }

    func bodyBufferFilled(_ count: Int) -> Flow {
        if let lentMemory { notes.receivedBody.append(UnsafeRawBufferPointer(lentMemory).prefix(count)) }
        lentMemory = nil
        return receiver?.bodyBufferFilled(count) ?? .wait
    }

    /// The redirect's request gets the program's own stream, not its copy: only the program's tells whether it was read.
    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        notes.didReceive(response, at: resources.loop.now)
        receiver?.redirect(to: request.withStreamOfProgram, refusal: refusal, response: response, decide: decide)
    }

    /// The rest of a resumed upload is not recorded.
    func requestNewBodyStream(from offset: Int64?, _ give: @escaping (InputStream?) -> Void) {
        receiver?.requestNewBodyStream(from: offset) { [weak self] stream in
            give(offset == nil ? stream.map { self?.copied($0) ?? $0 } : stream)
        }
    }

    func collect(_ transaction: @autoclosure () -> TransactionRecord) {
        let transaction = transaction()
        notes.transactions.append(transaction)
        receiver?.collect(transaction)
    }

    func finish() {
        notes.result = .success(())
        receiver?.finish()
    }

    func fail(_ error: any Error) {
        notes.result = .failure(error)
        receiver?.fail(error)
    }
}
