import Foundation
import LoadingKit
import Synchronization

/// Answers a session's requests from a recording, without a network.
///
/// ```swift
/// let player = HARPlayer(try HARLog(contentsOf: file)) { Issue.record(Comment(rawValue: $0)) }
/// player.install(in: configuration)
/// ```
///
/// A redacted value matches any value. A request that the recording does not contain fails with
/// ``UnexpectedRequestError``. The rules for the bodies of stubs, and for cookies, also apply here.
public final class HARPlayer: Sendable {
    /// The selection of the entry that answers a request.
    public enum Matching: Sendable, Hashable {
        /// The entries in their order, each once: method, URL, query items and body must equal those of the next entry.
        case strict
        /// The nearest entry with the same method, URL and query items, in any order and repeatedly: first an entry
        /// with the same body, then one that was not played yet, then the earliest of these; if all were played, the
        /// last.
        case lenient
    }

    /// The options of a player.
    public struct Options: Sendable {
        /// The selection of the entry that answers a request. Default strict.
        public var matching = Matching.strict
        /// Whether a response takes the recorded time (`wait` before the head), by ``clock``. Default false: it arrives
        /// at once.
        public var keepsTimings = false
        /// The clock for ``keepsTimings``. Default the continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// Whether a response whose body was not recorded has an empty body, and does not fail. Default false.
        public var allowsMissingBodies = false
        /// The largest size of a request's body in bytes; a longer one fails with `URLError.dataLengthExceedsMaximum`.
        /// Default 64 MiB.
        public var maximumBodySize = 64 << 20
        /// The number of unexpected requests that are kept for ``HARPlayer/verify()``: the last ones. Default 1,000; at
        /// least 1.
        public var maximumUnexpected = 1_000

        /// Makes the default options.
        public init() {}

        /// Makes the default options with this matching.
        public init(matching: Matching) { self.matching = matching }
    }

    private struct State {
        /// The index of the next entry, where entries are played in order.
        var next = 0
        var wasPlayed: [Bool]
        var unexpected: [UnexpectedRequestError] = []
    }

    /// The indices of the entries for each method.
    private let places: [String: [Int]]
    private let matches: [HARMatch]
    private let state: Mutex<State>
    private let onFailure: @Sendable (String) -> Void
    let options: Options

    /// Makes a player at the recording's beginning.
    ///
    /// - Parameter onFailure: gets the text of each unexpected request, on the thread that loads it.
    public init(
        _ log: HARLog, options: Options = Options(), onFailure: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.options = options
        self.onFailure = onFailure
        matches = log.entries.map { HARMatch($0) }
        places = Dictionary(grouping: matches.indices, by: { [matches] in matches[$0].entry.request.method })
        state = Mutex(State(wasPlayed: Array(repeating: false, count: log.entries.count)))
    }

    /// Replays the recording in the sessions that are made from a configuration from now on.
    ///
    /// It registers a factory for each scheme (`register(scheme:_:)`), which replaces an earlier one for the scheme.
    public func install(in configuration: URLSessionConfiguration, schemes: [String] = ["http", "https"]) {
        for scheme in schemes {
            configuration.register(scheme: scheme) { ReplayHandler($0, self) }
        }
    }

    /// Method and URL of the entries that were not played, in their order.
    public var unplayed: [String] {
        let wasPlayed = state.withLock { $0.wasPlayed }
        return zip(matches, wasPlayed).compactMap { $1 ? nil : $0.name }
    }

    /// The requests that the recording does not contain.
    public var unexpected: [UnexpectedRequestError] { state.withLock { $0.unexpected } }

    /// Checks that the recording contained every request, and that the complete recording was played.
    ///
    /// - Throws: ``HARReplayError`` with all deviations.
    public func verify() throws(HARReplayError) {
        let error = HARReplayError(unplayed: unplayed, unexpected: unexpected)
        if !error.unplayed.isEmpty || !error.unexpected.isEmpty { throw error }
    }

    // MARK: Called by its handlers

    /// The entry that answers a request.
    func entry(for request: ReceivedRequest) throws(UnexpectedRequestError) -> HAREntry {
        let found =
            switch options.matching {
            case .strict: takeNext(request)
            case .lenient: takeNearest(request)
            }
        switch found {
        case .success(let index): return matches[index].entry
        case .failure(let error):
            state.withLock { $0.unexpected.append(error, keepingLast: options.maximumUnexpected) }
            onFailure(error.description)
            throw error
        }
    }

    private func takeNext(_ request: ReceivedRequest) -> Result<Int, UnexpectedRequestError> {
        // Compared within the lock, because the result determines the next entry; no code of the program runs there.
        state.withLock { state in
            guard state.next < matches.count else {
                let text = "Unexpected request: \(request.name)\n  The recording is at its end."
                return .failure(UnexpectedRequestError(request: request.name, description: text))
            }
            let match = matches[state.next]
            let mismatches = match.headMismatches(request) + match.bodyMismatches(request)
            guard mismatches.isEmpty else {
                let candidate = NearestMatch(
                    name: "\(match.name) (number \(state.next + 1) of \(matches.count))", mismatches: mismatches)
                return .failure(UnexpectedRequestError(request, kind: "entry, the next one in order", [candidate]))
            }
            state.wasPlayed[state.next] = true
            state.next += 1
            return .success(state.next - 1)
        }
    }

    private func takeNearest(_ request: ReceivedRequest) -> Result<Int, UnexpectedRequestError> {
        let same = (places[request.method] ?? []).filter { matches[$0].headMismatches(request).isEmpty }
        let differences = same.map { matches[$0].bodyMismatches(request).count }
        let nearest = zip(same, differences).filter { $0.1 == differences.min() }.map(\.0)
        let taken = state.withLock { state -> Int? in
            let index = nearest.first { !state.wasPlayed[$0] } ?? nearest.last
            if let index { state.wasPlayed[index] = true }
            return index
        }
        if let taken { return .success(taken) }
        let candidates = matches.map { NearestMatch(name: $0.name, mismatches: $0.headMismatches(request)) }
        return .failure(UnexpectedRequestError(request, kind: "entry of the recording", candidates))
    }
}

/// The deviations that ``HARPlayer/verify()`` has found.
public struct HARReplayError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// Method and URL of the entries that were not played.
    public let unplayed: [String]
    /// The requests that the recording does not contain.
    public let unexpected: [UnexpectedRequestError]

    /// All deviations, one on each line.
    public var description: String {
        var lines: [String] = []
        if !unplayed.isEmpty {
            lines.append("Not played of the recording: \(unplayed.count)")
            lines += unplayed.map { "  \($0)" }
        }
        if !unexpected.isEmpty {
            lines.append("Not in the recording: \(unexpected.count)")
            lines += unexpected.flatMap { $0.description.split(separator: "\n").map { "  \($0)" } }
        }
        return lines.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
