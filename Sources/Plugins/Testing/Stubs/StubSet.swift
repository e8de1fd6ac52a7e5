import Foundation
import LoadingKit
import Synchronization

/// The stubs of one session, and what was requested of them.
///
/// ```swift
/// let stubs = StubSet { Issue.record(Comment(rawValue: $0)) }
/// stubs.add(.get("https://api.example.com/users/{id}"), always: .json(["name": "Ann"]))
/// let configuration = URLSessionConfiguration.ephemeral
/// stubs.install(in: configuration)
/// let session = URLSession(configuration: configuration)
/// // … what is to be tested …
/// try stubs.verify()
/// ```
///
/// Nothing is shared between two sets, so that tests may run at the same time. Of the stubs that match a request the
/// first that was added and has an answer left is used. A request that none matches fails with
/// ``UnexpectedRequestError``.
public final class StubSet: Sendable {
    private struct State {
        var stubs: [Stub] = []
        /// How often each stub was used.
        var uses: [Int] = []
        var requests: [ReceivedRequest] = []
        var unexpected: [UnexpectedRequestError] = []
    }

    /// How a set treats requests.
    public struct Options: Sendable {
        /// Whether a request that no stub matches goes to the handlers behind the stubs, to the network, instead of
        /// failing. Default false.
        public var passesOnUnmatched = false
        /// The bytes of a request's body that are read at most; a longer one fails with
        /// `URLError.dataLengthExceedsMaximum`. Default 64 MiB.
        public var maximumBodySize = 64 << 20
        /// The requests that are kept, and the unexpected ones: the last ones that came. Default 10,000; at least 1.
        public var maximumRequests = 10_000
        /// What delays go by. Default the continuous clock; a ``ManualClock`` is moved by the test.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// The defaults.
        public init() {}
    }

    let options: Options
    private let onFailure: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// A set without stubs.
    ///
    /// - Parameter onFailure: gets the text of each unexpected request, in the thread that loads it: `Issue.record` or
    ///   `XCTFail`. By default nothing is done beside the load's failure.
    public init(options: Options = Options(), onFailure: @escaping @Sendable (String) -> Void = { _ in }) {
        self.options = options
        self.onFailure = onFailure
    }

    // MARK: Stubs

    /// Adds a stub. May be done while requests come.
    public func add(_ stub: Stub) {
        state.withLock { state in
            state.stubs.append(stub)
            state.uses.append(0)
        }
    }

    /// Adds a stub whose matchers must all hold.
    public func add(_ matchers: RequestMatcher..., name: String? = nil, answers: StubAnswers) {
        add(Stub(matchers, name: name, answers: answers))
    }

    /// Adds a stub that gives every request the same answer.
    public func add(_ matchers: RequestMatcher..., name: String? = nil, always response: StubResponse) {
        add(Stub(matchers, name: name, answers: .always(response)))
    }

    /// Adds a stub that gives each answer once.
    public func add(_ matchers: RequestMatcher..., name: String? = nil, inOrder responses: StubResponse...) {
        add(Stub(matchers, name: name, answers: .inOrder(responses)))
    }

    /// Adds a stub that answers so many requests.
    public func add(_ matchers: RequestMatcher..., name: String? = nil, times: Int, _ response: StubResponse) {
        add(Stub(matchers, name: name, answers: .times(times, response)))
    }

    /// Adds a stub whose answer a closure makes of the request.
    public func add(
        _ matchers: RequestMatcher..., name: String? = nil,
        respond: @escaping @Sendable (ReceivedRequest) async throws -> StubResponse
    ) {
        add(Stub(matchers, name: name, answers: .always(.computed(respond))))
    }

    /// Removes all stubs, and forgets the requests.
    public func removeAll() { state.withLock { $0 = State() } }

    /// Has the sessions that are made of a configuration from now on ask the stubs, before any built-in handler.
    ///
    /// It registers a factory for each scheme (`register(scheme:_:)`), which replaces one that was registered for it
    /// before. Classes in `protocolClasses` are asked first. A session that is not made of the configuration is not
    /// concerned.
    ///
    /// - Parameter schemes: all of whose requests are for the stubs. Default `http` and `https`.
    public func install(in configuration: URLSessionConfiguration, schemes: [String] = ["http", "https"]) {
        for scheme in schemes {
            configuration.register(scheme: scheme) { StubHandler($0, self) }
        }
    }

    // MARK: What was requested

    /// The requests up to now, in the order in which their bodies were complete, those that no stub matched included.
    public var requests: [ReceivedRequest] { state.withLock { $0.requests } }

    /// The requests up to now that a matcher holds for.
    public func requests(matching matchers: RequestMatcher...) -> [ReceivedRequest] {
        requests.filter { request in matchers.allSatisfy { $0.mismatches(request).isEmpty } }
    }

    /// The requests that no stub matched.
    public var unexpected: [UnexpectedRequestError] { state.withLock { $0.unexpected } }

    /// The stubs that were not used as often as their answers say: `always` at least once.
    public var unused: [UnusedStub] {
        state.withLock { state in
            zip(state.stubs, state.uses).compactMap { stub, used in
                let required = stub.answers.requiredCount
                return used < required ? UnusedStub(name: stub.name, used: used, required: required) : nil
            }
        }
    }

    /// Checks that every stub was used, and that every request was expected.
    ///
    /// - Throws: ``StubVerificationError`` with all that was not so.
    public func verify() throws(StubVerificationError) {
        let error = StubVerificationError(unused: unused, unexpected: unexpected)
        if !error.unused.isEmpty || !error.unexpected.isEmpty { throw error }
    }

    // MARK: What its handlers call

    /// Finds the answer to a request and keeps the request.
    ///
    /// The matchers, which are the program's code, run without the lock; whether a stub has an answer left is decided
    /// in it.
    func answer(_ request: ReceivedRequest) throws(UnexpectedRequestError) -> (ReceivedRequest, StubResponse) {
        let stubs = state.withLock { $0.stubs }
        let results = stubs.map { $0.match(request) }
        let matching = results.indices.filter { results[$0].mismatches.isEmpty }
        let claimed = state.withLock { claim(request, matching, results, &$0) }
        if let claimed { return claimed }
        if options.passesOnUnmatched {
            var request = request
            request.outcome = .passedOn
            keep(request, nil)
            return (request, .passOn)
        }
        let error = unexpected(request, stubs, results)
        var request = request
        request.outcome = .unexpected(error.description)
        keep(request, error)
        onFailure(error.description)
        throw error
    }

    private func claim(
        _ request: ReceivedRequest, _ matching: [Int], _ results: [RequestMatcher.Result], _ state: inout State
    ) -> (ReceivedRequest, StubResponse)? {
        for index in matching where state.stubs.indices.contains(index) && state.uses.indices.contains(index) {
            let stub = state.stubs[index]
            guard let response = stub.answers.response(at: state.uses[index]) else { continue }
            state.uses[index] += 1
            var request = request
            request.parameters = results[index].parameters
            request.outcome = .answered(stub: stub.name)
            append(request, &state)
            return (request, response)
        }
        return nil
    }

    private func append(_ request: ReceivedRequest, _ state: inout State) {
        state.requests.append(request)
        let excess = state.requests.count - max(options.maximumRequests, 1)
        if excess > 0 { state.requests.removeFirst(excess) }
    }

    private func keep(_ request: ReceivedRequest, _ error: UnexpectedRequestError?) {
        state.withLock { state in
            append(request, &state)
            guard let error else { return }
            state.unexpected.append(error)
            let excess = state.unexpected.count - max(options.maximumRequests, 1)
            if excess > 0 { state.unexpected.removeFirst(excess) }
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
        return UnexpectedRequestError(
            request: "\(request.method) \(request.url.absoluteString)",
            description: NearestMatch.text(request, kind: "stub", candidates))
    }
}
