import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Events of the current exchange. The upload handles them or passes them on.
extension ResumableUpload: ForwardingReceiver {
    /// The number of bytes of a response's body that are read and dropped to keep the connection.
    private static let mostDiscarded = 64 * 1024

    private var isDelivering: Bool { state.step == .delivering }

    func receive(_ response: URLResponse) -> Flow {
        guard let receiver, let response = response as? HTTPURLResponse else { return .wait }
        // A stream may have delivered as many bytes as it was stated to have, and not have ended yet.
        let isSent = exchange?.isRequestSent == true || expected.map { sent >= $0 } ?? false
        switch state.receive(UploadAnswer(response, to: exchangeRequest), isSent: isSent) {
        case .deliver:
            if isDelivering, exchangeRequest.url != request.url { removeStored(response) }
            noteResource()
            return receiver.receive(response)
        case .discard(let action):
            noteResource()
            receiver.noteActivity()
            actionAfterResponse = action
            return .more
        }
    }

    /// Stored responses for the request's URL may be invalid now (RFC 9111 §4.4). The exchanges use another URL, so
    /// they do not invalidate these responses.
    private func removeStored(_ response: HTTPURLResponse) {
        guard 200..<400 ~= response.statusCode, let url = request.url else { return }
        SessionCache.of(resources.core)?.invalidate(url)
    }

    func receive(informational response: HTTPURLResponse) {
        if response.statusCode == 104 {
            state.receive(interim: UploadAnswer(response, to: exchangeRequest))
            noteResource()
            // The exchange is still processing the bytes that it received, among which may be the response.
            performLater { $0.perform($0.state.heedLimits()) }
        }
        receiver?.receive(informational: response)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        guard let receiver else { return .wait }
        return isDelivering ? receiver.receive(bytes) : discard(bytes.count)
    }

    func receive(_ data: Data) -> Flow {
        guard let receiver else { return .wait }
        return isDelivering ? receiver.receive(data) : discard(data.count)
    }

    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? {
        isDelivering ? receiver?.bodyBuffer(atMost: count) : nil
    }

    /// Counts bytes of a response's body that no one receives.
    private func discard(_ count: Int) -> Flow {
        receiver?.noteActivity()
        discarded += count
        guard discarded > Self.mostDiscarded, actionAfterResponse != nil else { return .more }
        performLater { $0.responseDidEnd() }
        return .wait
    }

    /// Returns false if the response was not for the upload only.
    @discardableResult
    private func responseDidEnd() -> Bool {
        guard let action = actionAfterResponse.take() else { return false }
        perform(action)
        return true
    }

    /// Calls `body` after the exchange's current work, unless the exchange has ended by then.
    private func performLater(_ body: @escaping (ResumableUpload) -> Void) {
        let current = exchange
        resources.loop.executeLater { [self] in if exchange === current { body(self) } }
    }

    /// The program's own request may be redirected. The other requests are only for the server that has the upload.
    func redirect(
        to next: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        guard state.receiveRedirect() else { return resources.loop.executeLater { decide(false) } }
        receiver?.redirect(to: next, refusal: refusal, response: response) { [weak self] follows in
            if follows { self?.task.resumption = nil }
            decide(follows)
        }
    }

    /// Requests a stream for the part that is being sent.
    func requestNewBodyStream(from offset: Int64?, _ give: @escaping (InputStream?) -> Void) {
        let start: Int64? = if case .appending(let part) = state.step { part.offset } else { offset }
        receiver?.requestNewBodyStream(from: start, give)
    }

    func didSendBody(_ count: Int, expected: Int64) {
        sent += Int64(count)
        let expected = state.total ?? self.expected.map { state.offset + $0 }
        receiver?.didSendBody(count, expected: expected ?? NSURLSessionTransferSizeUnknown)
    }

    func bodyWillBeSentAgain(_ count: Int64) {
        sent -= count
        receiver?.bodyWillBeSentAgain(count)
    }

    func finish() { if !responseDidEnd() { receiver?.finish() } }

    func fail(_ error: any Error) {
        if responseDidEnd() { return }
        let isBroken = (error as? TransportError)?.isBrokenHandshake == true
        let isInterruption = isBroken || URLError.Code.ofConnection.contains(URLError(error, url: nil).code)
        let action = state.requestDidFail(error, isInterruption: isInterruption)
        noteResource()
        perform(action)
    }

    var loadEnd: LoadEnd { receiver?.loadEnd ?? .replaced }
}
