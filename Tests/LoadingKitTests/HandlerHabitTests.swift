import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import Logging
import Synchronization
import TestSupport
import Testing

/// What handlers that others wrote do, and should not be told off for; and what they do wrong.
@Suite struct HandlerHabitTests {
    /// Of Apple's shape; the URL's host says what it does.
    private final class Habit: URLProtocol, @unchecked Sendable {  // as its superclass
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "habit" }

        private func response(_ url: URL) -> URLResponse {
            URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        }

        override func startLoading() {
            guard let url = request.url, let client else { return }
            let response = response(url)
            switch url.host {
            case "redirects-and-fails":
                var next = request
                next.url = URL(string: "habit://plain")
                client.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
                client.urlProtocol(self, didFailWithError: URLError(.cancelled))
                return
            case "receives-and-redirects":
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client.urlProtocol(self, wasRedirectedTo: request, redirectResponse: response)
                return
            case "stored-and-finishes":
                let cached = CachedURLResponse(response: response, data: Data("stored".utf8))
                client.urlProtocol(self, cachedResponseIsValid: cached)
            case "sends-after-the-end":
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client.urlProtocolDidFinishLoading(self)
                client.urlProtocol(self, didLoad: Data("late".utf8))
                return
            default:
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client.urlProtocol(self, didLoad: Data("plain".utf8))
            }
            client.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}
    }

    private struct Warnings: LogHandler {
        let messages: Recorder<String>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        init(_ messages: Recorder<String>) { self.messages = messages }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if let rule = event.metadata?["rule"] { messages.append("\(rule)") }
        }
    }

    @Test(arguments: [
        ("redirects-and-fails", "plain", false), ("stored-and-finishes", "stored", false), ("plain", "plain", false),
        ("sends-after-the-end", "", true),
    ])
    func habits(_ host: String, _ text: String, isBreach: Bool) async throws {
        let warnings = Recorder<String>()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Habit.self]
        configuration.logger = Logger(label: "habits") { _ in Warnings(warnings) }
        let session = URLSession(configuration: configuration)
        let (data, _) = try await session.data(from: try #require(URL(string: "habit://\(host)")))
        #expect(String(decoding: data, as: UTF8.self) == text)
        if isBreach { #expect(await warnings.element(at: 0) == "10") }
        // Loads after it: what was logged late is there by then.
        _ = try await session.data(from: try #require(URL(string: "habit://plain")))
        #expect(warnings.count == (isBreach ? 1 : 0))
        session.invalidateAndCancel()
    }

    /// A response before each redirect does not begin the count of redirects anew.
    @Test func redirectsBehindResponsesAreCounted() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Habit.self]
        let session = URLSession(configuration: configuration)
        let url = try #require(URL(string: "habit://receives-and-redirects"))
        let error = await #expect(throws: URLError.self) { _ = try await session.data(from: url) }
        #expect(error?.code == .httpTooManyRedirects)
        session.invalidateAndCancel()
    }

    /// A challenge's sender, which counts the answers.
    private final class Sender: NSObject, URLAuthenticationChallengeSender {
        let answers = Recorder<String>()
        let isAnswered = Signal()
        /// The load has begun.
        let hasBegun = Signal()
        /// The handler was stopped.
        let isStopped = Signal()
        /// The challenge waits for it.
        let start: Signal?
        /// Each answer waits for it.
        let go: Signal?

        init(startingAfter start: Signal? = nil, waitingFor go: Signal? = nil) { (self.start, self.go) = (start, go) }

        private func note(_ answer: String) {
            answers.append(answer)
            go?.waitBlocking()
            isAnswered.fire()
        }

        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) { note("use") }
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { note("without") }
        func cancel(_ challenge: URLAuthenticationChallenge) { note("cancel") }
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) { note("default") }
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { note("reject") }
    }

    private static func challenge(_ sender: any URLAuthenticationChallengeSender) -> URLAuthenticationChallenge {
        let space = URLProtectionSpace(host: "a", port: 1, protocol: nil, realm: nil, authenticationMethod: nil)
        return URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil,
            error: nil, sender: sender)
    }

    /// Challenges, and takes the challenge back when the delegate has it; then it goes on without.
    private final class Withdrawing: URLProtocol, @unchecked Sendable {  // as its superclass
        static let sender = Sender()
        static let isAsked = Signal()

        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "withdraw" }

        override func startLoading() {
            guard let url = request.url, let client else { return }
            let challenge = HandlerHabitTests.challenge(Self.sender)
            client.urlProtocol(self, didReceive: challenge)
            Self.isAsked.waitBlocking()
            client.urlProtocol(self, didCancel: challenge)
            client.urlProtocol(
                self,
                didReceive: URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil),
                cacheStoragePolicy: .notAllowed)
            client.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}
    }

    /// Answers when the load is over.
    private final class LateDelegate: NSObject, URLSessionDataDelegate {
        let late = Box<(@Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)?>(nil)
        let ends = Recorder<Bool>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            late.value = completionHandler
            Withdrawing.isAsked.fire()
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            late.value?(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
            ends.append(error == nil)
        }
    }

    @Test func aChallengeThatIsWithdrawnNeedsNoAnswer() async throws {
        let delegate = LateDelegate()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Withdrawing.self, Habit.self]
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: try #require(URL(string: "withdraw:a"))).resume()
        #expect(await delegate.ends.element(at: 0) == true)
        _ = try await session.data(from: try #require(URL(string: "habit://plain")))
        #expect(Withdrawing.sender.answers.snapshot.isEmpty)
        session.invalidateAndCancel()
    }

    /// Challenges, waits for the answer in `startLoading()`, and goes on whatever it is. The URL's host names the
    /// sender.
    private final class Waiting: URLProtocol, @unchecked Sendable {  // as its superclass
        private static let senders = Mutex<[String: Sender]>([:])

        /// A URL for one load with a sender.
        static func url(_ sender: Sender) throws -> URL {
            let host = UUID().uuidString.lowercased()
            senders.withLock { $0[host] = sender }
            return try #require(URL(string: "wait://\(host)"))
        }

        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "wait" }

        private var sender: Sender? {
            guard let host = request.url?.host else { return nil }
            return Self.senders.withLock { $0[host] }
        }

        override func startLoading() {
            guard let url = request.url, let client, let sender else { return }
            sender.hasBegun.fire()
            sender.start?.waitBlocking()
            client.urlProtocol(self, didReceive: HandlerHabitTests.challenge(sender))
            sender.isAnswered.waitBlocking()
            client.urlProtocol(
                self,
                didReceive: URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil),
                cacheStoragePolicy: .notAllowed)
            client.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() { sender?.isStopped.fire() }
    }

    /// Keeps the completion handlers of challenges.
    private final class SilentDelegate: NSObject, URLSessionDataDelegate {
        let kept = Recorder<@Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void>()
        let ends = Recorder<Bool>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            kept.append(completionHandler)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ends.append(error == nil)
        }
    }

    /// A handler that waits for the answer would block its thread for ever.
    @Test func aChallengeOfALoadThatIsOverIsCancelled() async throws {
        let delegate = SilentDelegate()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Waiting.self]
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let isOver = Signal()
        let (silent, late) = (Sender(), Sender(startingAfter: isOver))
        defer { isOver.fire() }
        let urls = (silent: try Waiting.url(silent), late: try Waiting.url(late))
        try await withTimeout {
            let task = session.dataTask(with: urls.silent)
            task.resume()
            let answer = await delegate.kept.element(at: 0)
            task.cancel()
            await silent.isStopped.wait()
            // It no longer counts.
            answer?(.useCredential, nil)
            let second = session.dataTask(with: urls.late)
            second.resume()
            await late.hasBegun.wait()
            second.cancel()
            #expect(await delegate.ends.element(at: 1) == false)
            isOver.fire()
            await late.isStopped.wait()
            #expect(silent.answers.snapshot == ["cancel"] && late.answers.snapshot == ["cancel"])
        }
    }

    /// Uses the client when it is released.
    private final class PartingSender: NSObject, URLAuthenticationChallengeSender, @unchecked Sendable {  // constants
        private let handler: URLProtocol
        private let client: any URLProtocolClient
        private let isGone: Signal

        init(_ handler: URLProtocol, _ client: any URLProtocolClient, _ isGone: Signal) {
            (self.handler, self.client, self.isGone) = (handler, client, isGone)
        }

        deinit {
            client.urlProtocol(handler, didLoad: Data())
            isGone.fire()
        }

        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
    }

    /// Challenges behind a redirect, where nobody is asked, and then fails.
    private final class Parting: URLProtocol, @unchecked Sendable {  // as its superclass
        static let session = Box<URLSession?>(nil)
        static let isSenderGone = Signal()

        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "parting" }

        override func startLoading() {
            guard let url = request.url, let client,
                let response = HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil)
            else { return }
            client.urlProtocol(self, wasRedirectedTo: request, redirectResponse: response)
            client.urlProtocol(
                self,
                didReceive: HandlerHabitTests.challenge(PartingSender(self, client, Self.isSenderGone)))
            // By then the loop has dropped the challenge.
            let isDropped = Signal()
            Self.session.value?.getAllTasks { _ in isDropped.fire() }
            isDropped.waitBlocking()
            client.urlProtocol(self, didFailWithError: URLError(.cancelled))
        }

        override func stopLoading() {}
    }

    /// Keeps the completion handlers of redirects.
    private final class RedirectDelegate: NSObject, URLSessionDataDelegate {
        let kept = Recorder<@Sendable (URLRequest?) -> Void>()
        let ends = Recorder<Bool>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            kept.append(completionHandler)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ends.append(error == nil)
        }
    }

    /// The client holds no lock then.
    @Test func aSenderThatIsReleasedMayUseTheClient() async throws {
        let delegate = RedirectDelegate()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Parting.self]
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        Parting.session.value = session
        let url = try #require(URL(string: "parting:a"))
        try await withTimeout {
            session.dataTask(with: url).resume()
            let answer = await delegate.kept.element(at: 0)
            await Parting.isSenderGone.wait()
            answer?(nil)
            #expect(await delegate.ends.element(at: 0) == true)
            Parting.session.value = nil
        }
    }

    /// The session's loop goes on meanwhile.
    @Test func aSenderMayBlock() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Waiting.self, Habit.self]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let go = Signal()
        defer { go.fire() }
        let sender = Sender(waitingFor: go)
        let (blocking, plain) = (try Waiting.url(sender), try #require(URL(string: "habit://plain")))
        try await withTimeout {
            async let waiting = session.data(from: blocking)
            #expect(await sender.answers.element(at: 0) == "default")
            _ = try await session.data(from: plain)
            go.fire()
            _ = try await waiting
        }
    }

    /// Dates and numbers that no clock gives; and reports that come when the load is over.
    private final class Odd: URLProtocolHandler, @unchecked Sendable {  // as its superclass
        static let contexts = Recorder<LoadContext>()
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "odd" }
        override func load(_ load: LoadContext) async throws {
            Self.contexts.append(load)
            let odd: [Double] = [.nan, .infinity, -.infinity, -1e300, 1e300, 0]
            for seconds in odd {
                var metrics = LoadMetrics()
                metrics.fetchStart = Date(timeIntervalSinceReferenceDate: seconds)
                metrics.response = DateInterval(start: Date(timeIntervalSinceReferenceDate: seconds), duration: 1)
                metrics.countOfResponseBodyBytesReceived = .min
                load.report(metrics)
            }
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
        }
    }

    private final class MetricsDelegate: NSObject, URLSessionTaskDelegate {
        let counts = Recorder<Int>()
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            let dates = metrics.transactionMetrics.flatMap { [$0.fetchStartDate, $0.responseEndDate] }
            counts.append(dates.compactMap { $0 }.count)
        }
    }

    @Test func oddReportsEndNothing() async throws {
        let delegates = [MetricsDelegate(), MetricsDelegate()]
        for delegate in delegates {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Odd.self]
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            _ = try await session.data(from: try #require(URL(string: "odd:a")))
            #expect(await delegate.counts.element(at: 0) == 12)
            // What a handler reports later is no other load's.
            for context in Odd.contexts.snapshot { context.report(LoadMetrics()) }
            session.invalidateAndCancel()
        }
        #expect(delegates.map(\.counts.count) == [1, 1])
    }

    private struct Forwarder: LoadInterceptor {
        func load(_ load: LoadContext) async throws { try await load.receive(load.next.load(load.request)) }
    }

    /// Numbers of sent bytes whose sum no integer has.
    @Test(arguments: [Int.max, Int.min], [false, true])
    func oddProgressEndsNothing(count: Int, isForwarded: Bool) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.register(
            scheme: "progress",
            loading: { load in
                for _ in 0..<2 { load.report(progress: count) }
                try await load.receive(
                    URLResponse(url: load.url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil))
                try await load.receive(Data("1".utf8))
            })
        if isForwarded { configuration.interceptors = [Forwarder()] }
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(from: try #require(URL(string: "progress:a")))
        #expect(data == Data("1".utf8))
    }
}
