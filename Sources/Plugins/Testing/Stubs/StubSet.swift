import Foundation
import LoadingKit
import Synchronization

/// The stubs of one session, and the requests that they received.
///
/// ```swift
/// let stubs = StubSet { Issue.record(Comment(rawValue: $0)) }
/// stubs.add(.get("https://api.example.com/users/{id}"), always: .json(["name": "Ann"]))
/// let configuration = URLSessionConfiguration.ephemeral
/// stubs.install(in: configuration)
/// let session = URLSession(configuration: configuration)
/// // … the code under test …
/// try stubs.verify()
/// ```
///
/// Two sets share nothing, so that tests may run at the same time. Of the stubs that match a request, the first added
/// one with a response left is used. A request that no stub matches fails with ``UnexpectedRequestError``.
public final class StubSet: Sendable {
    private struct State {
        var stubs: [(stub: Stub, uses: Int)] = []
        var requests: [ReceivedRequest] = []
        var unexpected: [UnexpectedRequestError] = []

        /// Takes the next response of the first matching stub that has one left.
        ///
        /// - Parameter results: those of the stubs; there may be fewer stubs by now.
        mutating func takeResponse(_ results: [RequestMatcher.Result]) -> (index: Int, response: StubResponse)? {
            for index in stubs.indices.prefix(results.count) where results[index].mismatches.isEmpty {
                guard let response = stubs[index].stub.answers.response(at: stubs[index].uses) else { continue }
                stubs[index].uses += 1
                return (index, response)
            }
            return nil
        }
    }

    /// The options of a set.
    public struct Options: Sendable {
        /// Whether a request that no stub matches is forwarded to the handlers after the stubs, and thus to the
        /// network, and does not fail. Default false.
        public var passesOnUnmatched = false
        /// The largest size of a request's body in bytes; a longer one fails with `URLError.dataLengthExceedsMaximum`.
        /// Default 64 MiB.
        public var maximumBodySize = 64 << 20
        /// The number of requests that are kept, and of unexpected ones: the last ones. Default 10,000; at least 1.
        public var maximumRequests = 10_000
        /// The clock for delays. Default the continuous clock; a test controls a ``ManualClock``.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Makes the default options.
        public init() {}
    }

    let options: Options
    private let onFailure: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// Makes a set without stubs.
    ///
    /// - Parameter onFailure: gets the text of each unexpected request, on the thread that loads it: `Issue.record` or
    ///   `XCTFail`. By default the load's failure is the only effect.
    public init(options: Options = Options(), onFailure: @escaping @Sendable (String) -> Void = { _ in }) {
        self.options = options
        self.onFailure = onFailure
    }

    // MARK: Stubs

    /// Adds a stub. It may be called while requests arrive.
    public func add(_ stub: Stub) { state.withLock { $0.stubs.append((stub, 0)) } }

    /// Adds a stub whose matchers must all be met.
    public func add(_ matchers: RequestMatcher..., name: String? = nil, answers: StubAnswers) {
        add(Stub(matchers, name: name, answers: answers))
    }

    /// Adds a stub with the same response for every request.
    public func add(_ matchers: RequestMatcher..., name: String? = nil, always response: StubResponse) {
        add(Stub(matchers, name: name, answers: .always(response)))
    }

    /// Adds a stub with each response once.
    public func add(_ matchers: RequestMatcher..., name: String? = nil, inOrder responses: StubResponse...) {
        add(Stub(matchers, name: name, answers: .inOrder(responses)))
    }

    /// Adds a stub that answers `times` requests.
    public func add(_ matchers: RequestMatcher..., name: String? = nil, times: Int, _ response: StubResponse) {
        add(Stub(matchers, name: name, answers: .times(times, response)))
    }

    /// Adds a stub whose response is made by a closure.
    public func add(
        _ matchers: RequestMatcher..., name: String? = nil,
        respond: @escaping @Sendable (ReceivedRequest) async throws -> StubResponse
    ) {
        add(Stub(matchers, name: name, answers: .always(.computed(respond))))
    }

    /// Removes all stubs and recorded requests.
    public func removeAll() {
        let gone = state.withLock { state in
            defer { state = State() }
            return state
        }
        // The release of the program's closures may run its code: not while the lock is held.
        withExtendedLifetime(gone) {}
    }

    /// Makes the sessions that are made from a configuration from now on use the stubs, before any built-in handler.
    ///
    /// It registers a factory for each scheme (`register(scheme:_:)`), which replaces an earlier one for the scheme.
    /// Classes in `protocolClasses` are tried first. Sessions made from other configurations are not affected.
    ///
    /// - Parameter schemes: the schemes whose requests are all for the stubs. Default `http` and `https`.
    public func install(in configuration: URLSessionConfiguration, schemes: [String] = ["http", "https"]) {
        for scheme in schemes {
            configuration.register(scheme: scheme) { StubHandler($0, self) }
        }
    }

    // MARK: Received requests

    /// The requests up to now, in the order in which their bodies were complete, including those that no stub matched.
    public var requests: [ReceivedRequest] { state.withLock { $0.requests } }

    /// The requests up to now that a matcher accepts.
    public func requests(matching matchers: RequestMatcher...) -> [ReceivedRequest] {
        requests.filter { request in matchers.allSatisfy { $0.mismatches(request).isEmpty } }
    }

    /// The requests that no stub matched.
    public var unexpected: [UnexpectedRequestError] { state.withLock { $0.unexpected } }

    /// The stubs that were used fewer times than their responses require: `always` requires at least one use.
    public var unused: [UnusedStub] {
        state.withLock { state in
            state.stubs.compactMap { stub, used in
                let required = stub.answers.requiredCount
                return used < required ? UnusedStub(name: stub.name, used: used, required: required) : nil
            }
        }
    }

    /// Checks that every stub was used, and that every request was expected.
    ///
    /// - Throws: ``StubVerificationError`` with all deviations.
    public func verify() throws(StubVerificationError) {
        let error = StubVerificationError(unused: unused, unexpected: unexpected)
        if !error.unused.isEmpty || !error.unexpected.isEmpty { throw error }
    }

    // MARK: Called by its handlers

    /// Finds the response to a request and records the request.
    ///
    /// The matchers, which are the program's code, run without the lock; the lock is held to check whether a stub has a
    /// response left.
    func answer(_ request: ReceivedRequest) throws(UnexpectedRequestError) -> (ReceivedRequest, StubResponse) {
        var request = request
        let stubs = state.withLock { $0.stubs.map(\.stub) }
        let results = stubs.map { $0.match(request) }
        // Requests are recorded in the order of their responses.
        let response = state.withLock { state -> StubResponse? in
            guard let (index, response) = state.takeResponse(results) else { return nil }
            request.parameters = results[index].parameters
            request.outcome = .answered(stub: stubs[index].name)
            state.requests.append(request, keepingLast: options.maximumRequests)
            return response
        }
        if let response { return (request, response) }
        if options.passesOnUnmatched {
            request.outcome = .passedOn
            keep(request)
            return (request, .passOn)
        }
        let error = unexpected(request, stubs, results)
        request.outcome = .unexpected(error.description)
        keep(request, error)
        onFailure(error.description)
        throw error
    }

    private func keep(_ request: ReceivedRequest, _ error: UnexpectedRequestError? = nil) {
        state.withLock { state in
            state.requests.append(request, keepingLast: options.maximumRequests)
            if let error { state.unexpected.append(error, keepingLast: options.maximumRequests) }
        }
    }

    private func unexpected(
        _ request: ReceivedRequest, _ stubs: [Stub], _ results: [RequestMatcher.Result]
    ) -> UnexpectedRequestError {
        let candidates = zip(stubs, results).map { stub, result in
            let count = stub.answers.requiredCount
            return NearestMatch(
                name: stub.name, mismatches: result.mismatches,
                remark: result.mismatches.isEmpty ? "It matches, and all of its answers were used (\(count))." : nil)
        }
        return UnexpectedRequestError(request, kind: "stub", candidates)
    }
}

extension Array {
    /// Appends an element, and removes the first ones where there are more than `limit`, which is at least 1.
    mutating func append(_ element: Element, keepingLast limit: Int) {
        append(element)
        let excess = count - Swift.max(limit, 1)
        if excess > 0 { removeFirst(excess) }
    }
}
