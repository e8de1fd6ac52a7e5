import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// The requests that a connection has sent ahead of the responses to earlier requests, in order (RFC 9112 §9.3.2). An
/// empty pipeline is small, because connections without pipelining have one, too.
struct Pipeline {
    /// The largest number of unanswered requests on a connection. The heads of eight requests usually fit what a quiet
    /// connection may send in one round trip (ten segments, RFC 6928), and what servers read at once. With more,
    /// requests would wait behind a slow response, or be sent again when the connection is lost.
    static let depth = 8

    private struct Entry {
        /// Nil if the exchange is over. Its response is read and dropped.
        var exchange: HTTPExchange?
        /// The number of bytes of the head that the socket has not taken.
        var unsent: Int
    }

    private var entries: [Entry] = []
    /// The heads of the entries that are not completely sent, and possibly of some entries before them.
    private var output: [UInt8] = []
    private var outputSent = 0

    /// Whether a request was sent ahead since the connection was free.
    private(set) var isInUse = false
    /// The time at which the awaited response became the next one.
    private(set) var lastTurn = MonotonicTime.distantFuture

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var isAwaited: Bool { entries.contains { $0.exchange != nil } }

    /// Whether the server can have received all of the request that it answers next.
    var isNextSent: Bool { entries.first?.unsent == 0 }

    mutating func begin() { isInUse = false }

    // MARK: Sending

    /// Appends a request, which ``flush(to:)`` sends. If the method throws, nothing has changed.
    mutating func append(
        _ exchange: HTTPExchange, _ codec: inout ClientConnection, now: MonotonicTime
    ) throws(HTTP1Error) {
        let start = output.count
        try codec.sendAhead(
            method: exchange.method, target: exchange.requestTarget, first: exchange.http1Fields,
            fields: exchange.transaction.fields, into: &output)
        exchange.headWillBeSent(output[start...])
        entries.append(Entry(exchange: exchange, unsent: output.count - start))
        if !isInUse { lastTurn = now }
        isInUse = true
    }

    /// Sends as many bytes as the socket takes.
    mutating func flush(to stream: ByteStream) -> TransportError? {
        while outputSent < output.count {
            switch output.withUnsafeBytes({ stream.write(UnsafeRawBufferPointer(rebasing: $0[outputSent...])) }) {
            case .bytes(let count): took(count)
            case .wouldBlock: return nil
            case .failed(let error): return error
            }
        }
        output.removeAll(keepingCapacity: true)
        outputSent = 0
        return nil
    }

    private mutating func took(_ count: Int) {
        outputSent += count
        var rest = count
        for index in entries.indices where rest > 0 && entries[index].unsent > 0 {
            let part = min(rest, entries[index].unsent)
            rest -= part
            entries[index].unsent -= part
            entries[index].exchange?.didSendHead(part)
            if entries[index].unsent == 0 { entries[index].exchange?.didSendRequest() }
        }
    }

    // MARK: Answers

    /// Removes and returns the request that is answered next; nil if its exchange is over.
    mutating func takeNext(now: MonotonicTime) -> HTTPExchange? {
        lastTurn = now
        return entries.isEmpty ? nil : entries.removeFirst().exchange
    }

    mutating func abandon(_ exchange: ExchangeNumber) {
        if let index = entries.firstIndex(where: { $0.exchange?.number == exchange }) { entries[index].exchange = nil }
    }

    /// Removes and returns the requests that await responses, when no more will arrive.
    mutating func takeAll() -> [HTTPExchange] {
        defer { self = Pipeline() }
        return entries.compactMap(\.exchange)
    }
}
