import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// The requests that a connection has sent ahead of the answers to those before them, in order (RFC 9112 §9.3.2).
///
/// Empty, it is nothing but a few words of memory: connections that do not pipeline have one, too.
struct Pipeline {
    /// How many requests a connection has unanswered at most. The heads of so many usually fit what may be sent in one
    /// round trip on a connection that was quiet (ten segments, RFC 6928), and what servers read at once; more of them
    /// would save little, and have more requests wait behind a slow answer, or sent again when the connection breaks.
    static let depth = 8

    private struct Entry {
        /// Nil when it is over: its answer is read, and dropped.
        var exchange: HTTPExchange?
        /// Bytes of the head that the socket has not taken.
        var unsent: Int
    }

    private var entries: [Entry] = []
    /// The heads of the entries that are not sent whole, and maybe of some before.
    private var output: [UInt8] = []
    private var outputSent = 0

    /// Whether anything was sent ahead since the connection was free.
    private(set) var isInUse = false
    /// When it became the turn of the answer that is awaited.
    private(set) var lastTurn = MonotonicTime.distantFuture

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    /// Whether an exchange waits for an answer.
    var isAwaited: Bool { entries.contains { $0.exchange != nil } }

    /// Whether the server can have seen all of the request that it is to answer next.
    var isNextSent: Bool { entries.first?.unsent == 0 }

    /// The connection carries a request that it was free for.
    mutating func begin() { isInUse = false }

    // MARK: Sending

    /// Appends a request, to be sent by ``flush(to:)``. When it throws, nothing has changed.
    mutating func append(
        _ exchange: HTTPExchange, _ codec: inout ClientConnection, now: MonotonicTime
    ) throws(HTTP1Error) {
        let start = output.count
        try codec.sendAhead(
            method: exchange.method, target: exchange.requestTarget, first: exchange.http1Fields,
            fields: exchange.transaction.fields, into: &output)
        entries.append(Entry(exchange: exchange, unsent: output.count - start))
        if !isInUse { lastTurn = now }
        isInUse = true
    }

    /// Sends what the socket takes.
    mutating func flush(to stream: ByteStream) -> TransportError? {
        while outputSent < output.count {
            switch output.withUnsafeBytes({ stream.write(UnsafeRawBufferPointer(rebasing: $0[outputSent...])) }) {
            case .bytes(let count): took(count, now: stream.loop.now)
            case .wouldBlock: return nil
            case .failed(let error): return error
            }
        }
        output.removeAll(keepingCapacity: true)
        outputSent = 0
        return nil
    }

    private mutating func took(_ count: Int, now: MonotonicTime) {
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

    /// Takes out the request that is answered next: nil when its exchange is over.
    mutating func takeNext(now: MonotonicTime) -> HTTPExchange? {
        lastTurn = now
        return entries.isEmpty ? nil : entries.removeFirst().exchange
    }

    mutating func abandon(_ exchange: HTTPExchange) {
        guard let index = entries.firstIndex(where: { $0.exchange === exchange }) else { return }
        entries[index].exchange = nil
    }

    /// Takes out those that wait for answers, when none will come.
    mutating func takeAll() -> [HTTPExchange] {
        defer { self = Pipeline() }
        return entries.compactMap(\.exchange)
    }
}
