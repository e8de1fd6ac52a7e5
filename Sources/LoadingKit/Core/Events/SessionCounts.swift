import LoadingKitPrimitives
import LoadingKitTransport

/// The sums of a session's events since its start. Each event of each request costs an addition.
struct SessionCounts: ~Copyable {
    /// A kind of event. Its numbers are by the reason, or another small number, that an event has.
    enum Row: Int, CaseIterable {
        case single, responses, retries, challenges, answers, refusedCookies, opened, closed, failedSteps, cache
    }

    /// An event without a reason.
    enum Single: Int {
        case tasksBegun, tasksSucceeded, loadsBegun, requestsWithCookies, storedCookies
        case firstRequests, laterRequests, redirects, failedConnects, cancelledConnects
    }

    /// The numbers in a row. The reasons of an event have smaller numbers.
    static let width = 32

    private static let size = Row.allCases.count * width

    /// By row, then by reason. Not a buffer pointer: the compiler fails for a change of its elements under ThreadSanitizer.
    private let numbers: UnsafeMutablePointer<Int>
    private var others = Others()

    /// The sums beside the numbers.
    struct Others: Sendable {
        /// By the code of the `URLError`.
        var failures: [Int32: Int] = [:]
        var delivered: Int64 = 0
        var traffic = Traffic()
        var (lookUps, connects, handshakes, firstBytes) = (TimeSum(), TimeSum(), TimeSum(), TimeSum())
        /// The connections in the middle of a step that is timed, by number.
        fileprivate var steps: [Int: Step] = [:]
    }

    fileprivate enum Step: Sendable { case lookUp(MonotonicTime), connect(MonotonicTime), handshake(MonotonicTime) }

    /// A copy, which stays as it is.
    struct Values: Sendable {
        fileprivate let numbers: [Int]
        let others: Others

        subscript(single: Single) -> Int { numbers[single.rawValue] }

        subscript(row: Row) -> ArraySlice<Int> {
            numbers[(row.rawValue * width)..<((row.rawValue + 1) * width)]
        }
    }

    init() {
        numbers = .allocate(capacity: Self.size)
        numbers.initialize(repeating: 0, count: Self.size)
    }

    deinit { numbers.deallocate() }

    var values: Values { Values(numbers: Array(UnsafeBufferPointer(start: numbers, count: Self.size)), others: others) }

    // MARK: Counting

    @inline(__always)
    mutating func count(_ event: SessionEvent) {
        switch event {
        case .taskBegan: add(.tasksBegun)
        case .taskSucceeded(let bytes):
            add(.tasksSucceeded)
            others.delivered &+= bytes
        case .taskFailed(let code): countFailure(code)
        case .loadBegan: add(.loadsBegun)
        case .cache(let decision): add(.cache, decision.rawValue)
        case .cookiesSent: add(.requestsWithCookies)
        case .cookieStored: add(.storedCookies)
        case .cookieRefused(let reason): add(.refusedCookies, reason.rawValue)
        case .requestBegan(let isReused): add(isReused ? .laterRequests : .firstRequests)
        case .responded(let status): add(.responses, UInt8(truncatingIfNeeded: status / 100))
        case .retried(let reason): add(.retries, reason.rawValue)
        case .redirected: add(.redirects)
        case .challenged(let kind): add(.challenges, kind.rawValue)
        case .challengeAnswered(let outcome): add(.answers, outcome.rawValue)
        case .connectionFailed: add(.failedConnects)
        case .connect(.failed(let phase)): add(.failedSteps, phase.rawValue)
        case .connect(.cancelled): add(.cancelledConnects)
        case .connect, .queued: break
        case .connectionOpened(let kind): add(.opened, kind.rawValue)
        case .connectionClosed(let reason): add(.closed, reason.rawValue)
        }
    }

    @inline(__always)
    private func add(_ single: Single) { numbers[single.rawValue] &+= 1 }

    @inline(__always)
    private func add(_ row: Row, _ reason: UInt8) {
        numbers[row.rawValue &* Self.width &+ Int(reason) % Self.width] &+= 1
    }

    @inline(never)
    private mutating func countFailure(_ code: Int32) { others.failures[code, default: 0] += 1 }

    mutating func count(_ traffic: Traffic) {
        others.traffic.add(traffic)
        if let time = traffic.timeToFirstByte { others.firstBytes.add(time) }
    }

    /// Times a step in the opening of a connection. A connection is in one step at a time.
    mutating func time(_ step: ConnectStep, of connection: UInt32, at now: MonotonicTime) {
        let connection = Int(connection)
        switch (step, others.steps[connection]) {
        case (.lookUpBegan, _): others.steps[connection] = .lookUp(now)
        case (.lookUpEnded, .lookUp(let start)?):
            others.lookUps.add(now.nanoseconds(since: start))
            others.steps[connection] = nil
        case (.connecting, nil): others.steps[connection] = .connect(now)
        case (.connected, .connect(let start)?):
            others.connects.add(now.nanoseconds(since: start))
            others.steps[connection] = nil
        case (.handshakeBegan, _): others.steps[connection] = .handshake(now)
        case (.handshakeEnded, .handshake(let start)?):
            others.handshakes.add(now.nanoseconds(since: start))
            others.steps[connection] = nil
        case (.failed, _), (.cancelled, _): others.steps[connection] = nil
        case (.lookUpEnded, _), (.connecting, _), (.connectFailed, _), (.connected, _), (.handshakeEnded, _): break
        }
    }
}

/// The bytes of requests and responses on connections.
package struct Traffic: Sendable {
    package var headBytesSent: Int64 = 0
    /// With the framing.
    package var bodyBytesSent: Int64 = 0
    package var headBytesReceived: Int64 = 0
    /// With the framing, and before decoding.
    package var bodyBytesReceived: Int64 = 0
    package var decodedBytes: Int64 = 0
    /// From the request's first byte to the response's, in nanoseconds; nil without a response, and in a sum.
    var timeToFirstByte: UInt64?

    package init() {}

    fileprivate mutating func add(_ other: Traffic) {
        headBytesSent &+= other.headBytesSent
        bodyBytesSent &+= other.bodyBytesSent
        headBytesReceived &+= other.headBytesReceived
        bodyBytesReceived &+= other.bodyBytesReceived
        decodedBytes &+= other.decodedBytes
    }
}

/// The number and the sum of measured times, in nanoseconds.
struct TimeSum: Sendable {
    private(set) var count = 0
    private(set) var sum: UInt64 = 0
    private(set) var least = UInt64.max
    private(set) var greatest: UInt64 = 0

    mutating func add(_ time: UInt64) {
        count &+= 1
        sum &+= time
        least = min(least, time)
        greatest = max(greatest, time)
    }
}
