import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// A record of a load, from which its entries are made at the end.
package struct LoadNotes: Sendable {
    /// A message of a WebSocket.
    struct Message: Sendable {
        /// About the bytes of memory that a message takes besides its content.
        static let ownBytes = 64

        let message: URLSessionWebSocketTask.Message
        let isSent: Bool
        let time: MonotonicTime
    }

    /// The position among the loads of the recording, in the order in which they began.
    package let number: Int
    package let session: SessionIdentity
    /// The identifier of the task.
    package let task: Int
    /// The request without its body.
    package let request: URLRequest
    /// The URL of the task's first request.
    let firstURL: URL?
    let start: MonotonicTime
    /// A moment on both clocks, where the load was performed elsewhere.
    let anchor: WallClockAnchor?
    /// The part of the request's body that was sent.
    private(set) var sentBody: RecordedBody
    let receivedBody: RecordedBody
    package private(set) var response: URLResponse?
    private(set) var responseTime: MonotonicTime?
    /// The requests that were sent for the load, such as one for each answer to a challenge, and their responses.
    package var transactions: [TransactionRecord] = []
    /// The result; nil while the load goes on.
    package internal(set) var result: Result<Void, any Error>?
    private(set) var messages: [Message] = []
    /// The number of further messages, which exceed the limit of a body, or were released.
    private(set) var omittedMessages = 0
    private var messageBytes = 0
    private let limit: Int
    /// The time of the last event.
    private(set) var end: MonotonicTime
    private(set) var isWebSocket = false
    /// Whether the session's cache keeps responses in memory alone.
    private(set) var cachesInMemory = false
    /// Whether the response's body keeps its content codings.
    private(set) var keepsCodings = false

    /// - Parameter limit: the largest number of bytes of each body, and of all messages.
    init(_ request: URLRequest, _ number: Int, limit: Int, _ resources: LoadResources) {
        self.init(
            request, number, limit: limit, start: resources.loop.now, session: resources.core.identity,
            task: resources.task.identifier, firstURL: resources.task.firstURL)
        isWebSocket = resources.task is URLSessionWebSocketTask
        cachesInMemory = resources.core.settings.urlCache?.diskCapacity == 0
        keepsCodings = resources.core.keepsContentCodings(of: request)
    }

    private init(
        _ request: URLRequest, _ number: Int, limit: Int, start: MonotonicTime, session: SessionIdentity, task: Int,
        firstURL: URL?, anchor: WallClockAnchor? = nil
    ) {
        (self.session, self.task, self.firstURL, self.anchor) = (session, task, firstURL, anchor)
        var head = request
        head.httpBody = nil
        self.request = head
        self.number = number
        self.limit = limit
        self.start = start
        end = start
        sentBody = RecordedBody(limit: limit)
        receivedBody = RecordedBody(limit: limit)
    }

    /// The notes of a load that was performed elsewhere.
    ///
    /// - Parameter firstURL: the URL of the task's first request, which may be missing from the transactions: they may
    ///   be those of a later attempt, or only the last ones.
    init(
        _ number: Int, _ last: URLSessionTaskTransactionMetrics, _ all: [TransactionRecord], _ error: (any Error)?,
        session: SessionIdentity, task: Int, firstURL: URL?
    ) {
        let times = last.record.timings
        let start = times.fetchStart ?? last.anchor.monotonicTime
        self.init(
            last.request, number, limit: 0, start: start, session: session, task: task,
            firstURL: firstURL, anchor: last.anchor)
        sentBody.skip(Int(clamping: last.countOfRequestBodyBytesBeforeEncoding))
        receivedBody.skip(Int(clamping: last.countOfResponseBodyBytesAfterDecoding))
        (responseTime, end) = (times.responseStart, times.responseEnd ?? start)
        transactions = all
        result = error.map { .failure($0) } ?? .success(())
    }

    /// The copy of a body that is about to be sent, in place of the earlier one.
    mutating func beginSentBody() -> RecordedBody {
        sentBody = RecordedBody(limit: limit)
        return sentBody
    }

    mutating func didReceive(_ response: URLResponse, at time: MonotonicTime) {
        self.response = response
        responseTime = time
        end = time
    }

    mutating func note(_ message: URLSessionWebSocketTask.Message, isSent: Bool, at time: MonotonicTime) {
        let size =
            switch message {
            case .data(let data): data.count
            case .string(let text): text.utf8.count
            }
        let bytes = size + Message.ownBytes
        guard messageBytes + bytes <= limit else { return omittedMessages += 1 }
        messageBytes += bytes
        messages.append(Message(message: message, isSent: isSent, time: time))
    }

    mutating func didEnd(_ result: Result<Void, any Error>, at time: MonotonicTime) {
        self.result = result
        end = time
    }

    /// Releases the bodies and messages, and keeps the bodies' sizes and the number of messages.
    package mutating func omitBodies() {
        sentBody.omit()
        receivedBody.omit()
        omittedMessages += messages.count
        (messages, messageBytes) = ([], 0)
    }

    /// The number of bytes of memory that the bodies and messages take.
    package var size: Int { sentBody.heldBytes + receivedBody.heldBytes + messageBytes }
}
