import Foundation
import LoadingKit

/// Lets equal GET requests that are in progress at the same time share one load.
///
/// Requests are equal where they belong to the same session, and have the same URL, the same fields (the program's;
/// `Authorization` and `Cookie` always count) and the same rules for cache, cookies and networks. Each caller gets the
/// response and the complete body at its own pace. Bytes that the fastest caller has read and the slowest has not are
/// kept, up to a limit: then the load waits for the slowest. When another caller has waited too long for data, the
/// slowest fails with ``SingleFlightError/fellBehind``.
///
/// A cancelled caller does not end the load of the others; the last one does. Tasks with their own delegate do not
/// share: the delegate may answer challenges for its task only. Put this interceptor after ``BearerTokens``, so that
/// tokens are compared. Add an object once to a configuration: a second time, a request would wait for itself.
public final class SingleFlight: ResilienceInterceptor {
    private let ignoredFields: Set<String>
    private let bufferLimit: Int
    private let maximumStall: TimeInterval
    private let clock: ResilienceClock
    private let flights = Locked<[FlightKey: Flight]>([:])

    /// Makes an interceptor that shares loads among the requests that pass it.
    ///
    /// - Parameters:
    ///   - ignoredFields: Fields that may differ, such as `X-Request-ID`. Default none. Fields that identify the user
    ///     are never ignored.
    ///   - bufferLimit: The number of bytes by which the slowest caller may be behind. Default 1 MiB, for each load.
    ///   - maximumStall: The seconds for which others then wait for the slowest. Default 10.
    public init(
        ignoredFields: Set<String> = [], bufferLimit: Int = 1 << 20, maximumStall: TimeInterval = 10,
        clock: ResilienceClock = .system
    ) {
        self.ignoredFields = Set(ignoredFields.map { $0.lowercased() })
        self.bufferLimit = bufferLimit
        self.maximumStall = maximumStall
        self.clock = clock
    }

    /// The number of loads that are shared, or may be.
    public var flightCount: Int { flights.withLock { $0.count } }

    /// The total number of callers of these loads.
    public var callerCount: Int { flights.withLock { Array($0.values) }.reduce(0) { $0 + $1.callers } }

    /// Loads the request together with equal requests.
    public func load(_ load: LoadContext) async throws {
        guard load.task.delegate == nil, let key = FlightKey(load, ignoredFields: ignoredFields) else {
            return try await load.forward(load.request)
        }
        try Task.checkCancellation()
        let (flight, id) = join(key)
        guard let id else { return try await load.forward(load.request) }
        try await withTaskCancellationHandler {
            defer { flight.leave(id, load) }
            try await self.load(load, flight, id)
        } onCancel: {
            flight.leave(id, load)
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

    private func load(_ load: LoadContext, _ flight: Flight, _ id: UInt64) async throws {
        while true {
            switch try await flight.head(for: id) {
            case .leads: flight.begin(id, load)
            case .loadsAlone:
                flight.leave(id, load)
                return try await load.forward(load.request)
            case .response(let response):
                try await load.receive(response)
                while let piece = try await flight.piece(for: id) { try await load.receive(piece) }
                return
            }
        }
    }
}

/// The error of a caller that did not get a shared load.
public enum SingleFlightError: LocalizedError, Sendable, Hashable {
    /// The caller read the body too slowly: the others would have waited longer than permitted.
    case fellBehind

    /// The error in plain words.
    public var errorDescription: String? {
        switch self {
        case .fellBehind: "the body was read too slowly for a load that others share"
        }
    }
}
