import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// A record of a load, from which its entries are made at the end.
struct LoadNotes: Sendable {
    /// A message of a WebSocket.
    struct Message: Sendable {
        let message: URLSessionWebSocketTask.Message
        let isSent: Bool
        let time: MonotonicTime
    }

    /// The position among the loads of the recording, in the order in which they began.
    let number: Int
    /// The request without its body.
    let request: URLRequest
    let start: MonotonicTime
    /// The part of the request's body that was sent.
    private(set) var sentBody: RecordedBody
    let receivedBody: RecordedBody
    private(set) var response: URLResponse?
    private(set) var responseTime: MonotonicTime?
    /// The requests that were sent for the load, such as one for each answer to a challenge, and their responses.
    var transactions: [TransactionRecord] = []
    /// The result; nil while the load goes on.
    var result: Result<Void, any Error>?
    private(set) var messages: [Message] = []
    /// The number of further messages, which exceed the limit of a body.
    private(set) var omittedMessages = 0
    private var messageBytes = 0
    private let limit: Int
    private(set) var end: MonotonicTime
    private(set) var isWebSocket = false
    /// Whether the session's cache keeps responses in memory alone.
    private(set) var cachesInMemory = false

    /// - Parameter limit: the largest number of bytes of each body, and of all messages.
    init(_ request: URLRequest, _ number: Int, limit: Int, start: MonotonicTime) {
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
    init(_ number: Int, _ last: URLSessionTaskTransactionMetrics, _ all: [TransactionRecord], _ error: (any Error)?) {
        let times = last.record.timings
        let start = times.fetchStart ?? last.anchor.monotonicTime
        self.init(last.request, number, limit: 0, start: start)
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
    }

    mutating func note(_ message: URLSessionWebSocketTask.Message, isSent: Bool, at time: MonotonicTime) {
        let size =
            switch message {
            case .data(let data): data.count
            case .string(let text): text.utf8.count
            }
        // A message of no bytes costs, too.
        guard messageBytes + size + messages.count < limit else { return omittedMessages += 1 }
        messageBytes += size
        messages.append(Message(message: message, isSent: isSent, time: time))
    }

    /// The notes of a load that has ended.
    func ended(_ result: Result<Void, any Error>, _ resources: LoadResources) -> LoadNotes {
        var notes = self
        notes.result = result
        notes.end = resources.loop.now
        notes.isWebSocket = resources.task is URLSessionWebSocketTask
        notes.cachesInMemory = resources.core.settings.urlCache?.diskCapacity == 0
        return notes
    }

    /// The number of bytes of memory that the bodies and messages take.
    var size: Int { sentBody.heldBytes + receivedBody.heldBytes + messageBytes }
}
