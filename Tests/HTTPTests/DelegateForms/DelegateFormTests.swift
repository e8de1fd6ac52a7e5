import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Each method of a delegate that has a completion handler has an asynchronous form, too: a program implements neither,
/// either or both, in the session's delegate or the task's own.
@Suite struct DelegateFormTests {
    typealias Delegate = FormNotes & URLSessionDataDelegate

    enum Forms: CaseIterable {
        case neither, completion, asynchronous, both

        func make(
            _ name: String, _ question: FormQuestion, _ calls: Recorder<String>, _ ends: Recorder<URLError.Code?>
        ) -> any Delegate {
            switch self {
            case .neither: NeitherDelegate(name, question, calls, ends)
            case .completion: CompletionDelegate(name, question, calls, ends)
            case .asynchronous: AsynchronousDelegate(name, question, calls, ends)
            case .both: BothDelegate(name, question, calls, ends)
            }
        }

        /// The calls of a delegate with these forms.
        var called: String? {
            switch self {
            case .neither: nil
            case .completion, .both: "completion"
            case .asynchronous: "async"
            }
        }
    }

    private static let route: LoopbackServer.Route = { request in
        switch request.path {
        case "/taskChallenge":
            if request.fields[.authorization] == "Basic dXNlcjpwYXNz" { return .text("welcome") }
            return ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        case "/redirection": return .redirect(to: "/hello")
        case "/newBodyStream": return .text(request.bodyText)
        case "/caching": return ServerResponse.text("fresh").adding("Cache-Control", "max-age=1000")
        default: return .text("hello")
        }
    }

    /// The result of the task: as the delegates here decide, or as without a delegate.
    private static func outcome(_ question: FormQuestion, isAnswered: Bool) -> String {
        switch question {
        case .sessionChallenge, .delayedRequest, .response: isAnswered ? "cancelled" : "200"
        case .taskChallenge: isAnswered ? "200" : "401"
        case .redirection: isAnswered ? "302" : "200"
        case .newBodyStream: isAnswered ? "200" : "without a body"
        case .caching: isAnswered ? "200, not stored" : "200, stored"
        }
    }

    /// Loads what asks the question, and says what became of it.
    private static func load(
        _ question: FormQuestion, _ session: URLSession, _ server: LoopbackServer, own: (any Delegate)?,
        _ ends: Recorder<URLError.Code?>
    ) async throws -> String {
        var request = try BothVersions.request(server, "/\(question.rawValue)")
        let task: URLSessionDataTask
        if question == .newBodyStream {
            request.httpMethod = "POST"
            task = session.uploadTask(withStreamedRequest: request)
        } else {
            task = session.dataTask(with: request)
        }
        task.delegate = own
        if question == .delayedRequest { task.earliestBeginDate = Date(timeIntervalSinceNow: 0.001) }
        let count = ends.count
        task.resume()
        switch await ends.element(at: count) {
        case .some(.cancelled): return "cancelled"
        case .some(.requestBodyStreamExhausted): return "without a body"
        case .some(.some(let code)): return "failed \(code.rawValue)"
        case .some(nil), nil: break
        }
        let status = ((task.response as? HTTPURLResponse)?.statusCode).map(String.init) ?? "no response"
        guard question == .caching else { return status }
        // The answer has reached the session's loop.
        _ = await session.allTasks
        let isStored = session.configuration.urlCache?.cachedResponse(for: request) != nil
        return status + (isStored ? ", stored" : ", not stored")
    }

    /// Each in a session of its own, so that each asks about a connection.
    private static func check(_ question: FormQuestion, own: Forms?, session shared: Forms) async throws {
        let calls = Recorder<String>()
        let ends = Recorder<URLError.Code?>()
        let delegate = shared.make("session's", question, calls, ends)
        let ownDelegate = own?.make("own", question, calls, ends)
        try await BothVersions.withServer("http/1.1", route, delegate: delegate) { session, server in
            let outcome = try await load(question, session, server, own: ownDelegate, ends)
            let sessionsCall = shared.called.map { "session's \($0)" }
            // Challenges about a connection go to the session's delegate before the task's, and to another method there.
            let expected =
                question == .sessionChallenge ? sessionsCall : own?.called.map { "own \($0)" } ?? sessionsCall
            let text = "\(question), own \(own.map { "\($0)" } ?? "none"), session's \(shared)"
            #expect(calls.snapshot == (expected.map { [$0] } ?? []), "\(text)")
            #expect(outcome == Self.outcome(question, isAnswered: expected != nil), "\(text)")
        }
    }

    /// The Swift tasks are those of the whole process, so that no other test has delegates of these classes.
    @Test func everyMethodInEveryForm() async throws {
        for question in FormQuestion.allCases {
            for shared in Forms.allCases {
                try await Self.check(question, own: nil, session: shared)
                for own in Forms.allCases { try await Self.check(question, own: own, session: shared) }
            }
        }
        // Once for each method, to learn that there is no such form.
        #expect(AsynchronousForm.startedTasks(for: NeitherDelegate.self) == FormQuestion.allCases.count)
        for type in [CompletionDelegate.self, BothDelegate.self] as [AnyClass] {
            #expect(AsynchronousForm.startedTasks(for: type) == 0, "\(type)")
        }
        #expect(AsynchronousForm.startedTasks(for: AsynchronousDelegate.self) > 0)
    }

    /// Apple, URLSessionTaskDelegate: both forms are one method there. Which is called from where is the compiler's choice.
    @Test func aProgramAsksItself() async throws {
        let expected: [(Forms, String)] = [
            (.neither, "session's async"), (.completion, "own off the queue"), (.asynchronous, "own async"),
            (.both, "own async"),
        ]
        for (forms, call) in expected {
            let calls = Recorder<String>()
            let shared = AsynchronousDelegate("session's", .redirection, calls)
            let own = forms.make("own", .redirection, calls, Recorder())
            let session = makeSession(delegate: shared)
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: "http://localhost/"))
            let response = try #require(
                HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil))
            let task = session.dataTask(with: url)
            let answer = await own.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: URLRequest(url: url))
            #expect(calls.snapshot == [call], "\(forms)")
            #expect(answer == (forms == .both ? URLRequest(url: url) : nil), "\(forms)")
        }
    }

    /// Code on the main queue is the main actor's, where asynchronous code cannot continue at once.
    @Test func theMainQueueIsTheDelegates() async throws {
        final class Silent: FormNotes, URLSessionDataDelegate, @unchecked Sendable {}  // as its superclass
        let calls = Recorder<String>()
        let ends = Recorder<URLError.Code?>()
        let server = try LoopbackServer(route: Self.route)
        defer { server.stop() }
        let session = URLSession(
            configuration: .ephemeral, delegate: CompletionDelegate("session's", .response, calls, ends),
            delegateQueue: .main)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: server.url("/")))
        for count in 1...2 {
            let task = session.dataTask(with: url)
            task.delegate = Silent("own", .response, calls, ends)
            task.resume()
            let codes = await ends.count(reaches: count)
            #expect(codes.last == .cancelled)
        }
        #expect(calls.snapshot == ["session's completion", "session's completion"])
    }

    /// The forms that are found for a class the first time apply to each of its objects, and to no other class.
    @Test func pinningIsAskedForOnEachConnection() async throws {
        final class Pinning: NSObject, URLSessionDelegate, @unchecked Sendable {  // constants
            let asked = Recorder<String>()
            let pin: String
            init(_ pin: String) { self.pin = pin }

            func urlSession(
                _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
            ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
                asked.append(challenge.protectionSpace.host)
                guard let trust = challenge.protectionSpace.serverTrust, let chain = try? trust.evaluate(),
                    chain.contains(where: { "\($0.publicKeySHA256)" == pin })
                else { return (.cancelAuthenticationChallenge, nil) }
                return (.useCredential, URLCredential(trust: trust))
            }
        }
        let own = NeitherDelegate("own", .caching, Recorder())
        for version in BothVersions.all {
            let wrong = Pinning("another")
            try await BothVersions.withServer(version, Self.route, delegate: wrong) { session, server in
                for count in 1...3 {
                    let outcome = await session.outcome(try BothVersions.request(server, "/"), delegate: own)
                    #expect(outcome == .failed(.cancelled))
                    #expect(wrong.asked.count == count && server.requests.count == 0)
                }
            }
        }
    }

    /// The answer comes when nobody wants it any more.
    @Test func aTaskThatIsCancelledMeanwhile() async throws {
        final class Thinking: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // constants
            let events = Recorder<String>()
            let release = Signal()

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
            ) async -> URLSession.ResponseDisposition {
                events.append("asked")
                await release.wait()
                events.append(Task.isCancelled ? "cancelled" : "answers")
                return .allow
            }

            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                events.append("data")
            }

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                events.append("complete \((error as? URLError)?.code.rawValue ?? 0)")
            }
        }
        let delegate = Thinking()
        try await BothVersions.withServer("http/1.1", Self.route, delegate: delegate) { session, server in
            let task = session.dataTask(with: try BothVersions.request(server, "/"))
            task.resume()
            _ = await delegate.events.count(reaches: 1)
            task.cancel()
            _ = await delegate.events.count(reaches: 2)
            delegate.release.fire()
            _ = await delegate.events.count(reaches: 3)
            session.dataTask(with: try BothVersions.request(server, "/")).resume()
            let events = await delegate.events.count(reaches: 7)
            #expect(
                events == ["asked", "complete -999", "answers", "asked", "answers", "data", "complete 0"])
        }
    }
}
