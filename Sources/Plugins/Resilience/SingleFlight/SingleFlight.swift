import Foundation
import LoadingKit

/// Equal GETs that are under way at the same time share one load.
///
/// Requests are equal where they are of the same session, and have the same URL, the same fields (those of the program: `Authorization` and `Cookie` always
/// count) and the same rules for cache, cookies and networks. Each caller gets the response and the whole body at its own
/// pace. What the fastest is ahead of the slowest is kept, up to a bound: then the load waits for the slowest, and when
/// another caller has waited for more for too long, the slowest fails with ``SingleFlightError/fellBehind``.
///
/// A cancelled caller does not end the load of the others; the last one does. Tasks with a delegate of their own do not
/// share: it may answer challenges for its task alone. Put this behind ``BearerTokens``, so that tokens are compared.
public final class SingleFlight: Interceptor {
    private let ignoredFields: Set<String>
    private let bufferLimit: Int
    private let maximumStall: TimeInterval
    private let clock: ResilienceClock
    private let flights = Locked<[FlightKey: Flight]>([:])

    /// Sharing among the requests that pass this object.
    ///
    /// - Parameters:
    ///   - ignoredFields: Fields that may differ, such as `X-Request-ID`. Default none. Those that identify the user are
    ///     never ignored.
    ///   - bufferLimit: How many bytes the slowest caller may be behind. Default 1 MiB, for each load.
    ///   - maximumStall: For how many seconds others wait for the slowest then. Default 10.
    public init(
        ignoredFields: Set<String> = [], bufferLimit: Int = 1 << 20, maximumStall: TimeInterval = 10,
        clock: ResilienceClock = .system
    ) {
        self.ignoredFields = Set(ignoredFields.map { $0.lowercased() })
        self.bufferLimit = bufferLimit
        self.maximumStall = maximumStall
        self.clock = clock
    }

    /// How many loads are shared, or may be.
    public var flightCount: Int { flights.withLock { $0.count } }

    /// How many callers these loads have together.
    public var callerCount: Int { flights.withLock { Array($0.values) }.reduce(0) { $0 + $1.callers } }

    /// Loads the request with those that are equal.
    public func load(_ request: URLRequest, _ next: NextInterceptors) async throws -> InterceptedResponse {
        let task = next.context.task
        guard task.delegate == nil,
            let key = FlightKey(
                request, hasBody: !next.context.body.isEmpty, next.installation, next.context.sessionIdentity,
                ignoredFields: ignoredFields)
        else { return try await next.load(request) }
        try Task.checkCancellation()
        let (flight, id) = join(key)
        guard let id else { return try await next.load(request) }
        return try await withTaskCancellationHandler {
            do {
                return try await load(request, next, flight, id)
            } catch {
                flight.leave(id, task)
                throw error
            }
        } onCancel: {
            flight.leave(id, task)
        }
    }

    private func join(_ key: FlightKey) -> (Flight, UInt64?) {
        flights.withLock { flights in
            if let flight = flights[key], let id = flight.join() { return (flight, id) }
            let flight = Flight(bufferLimit: bufferLimit, maximumStall: maximumStall, clock: clock) {
                [weak self] closed in
                self?.flights.withLock { flights in
                    if flights[key] === closed { flights[key] = nil }
                }
            }
            flights[key] = flight
            return (flight, flight.join())
        }
    }

    private func load(
        _ request: URLRequest, _ next: NextInterceptors, _ flight: Flight, _ id: UInt64
    ) async throws -> InterceptedResponse {
        while true {
            switch try await flight.head(for: id) {
            case .leads: flight.begin(id, request, next)
            case .loadsAlone:
                flight.leave(id, next.context.task)
                return try await next.load(request)
            case .response(let response):
                let reader = FlightReader(flight, id, next.context.task)
                return InterceptedResponse(
                    response: response, body: InterceptedBody(pulling: { try await reader.next() }))
            }
        }
    }
}

/// Why a caller of a shared load did not get it.
public enum SingleFlightError: LocalizedError, Sendable, Hashable {
    /// The caller read the body so slowly that others would have had to wait for longer than is allowed.
    case fellBehind

    /// What happened, in plain words.
    public var errorDescription: String? {
        switch self {
        case .fellBehind: "the body was read too slowly for a load that others share"
        }
    }
}

/// One caller's way to a shared body. When it is let go of, the caller leaves.
private final class FlightReader: Sendable {
    private let flight: Flight
    private let id: UInt64
    private let task: URLSessionTask

    init(_ flight: Flight, _ id: UInt64, _ task: URLSessionTask) {
        self.flight = flight
        self.id = id
        self.task = task
    }

    deinit { flight.leave(id, task) }

    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await flight.piece(for: id)
        } onCancel: {
            flight.leave(id, task)
        }
    }
}
