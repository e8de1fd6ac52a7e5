#if Telemetry
    import Foundation
    import LoadingKit
    import LoadingKitLoopbackServer
    import LoadingKitResilience
    import LoadingKitTelemetry
    import TestSupport
    import Testing
    import Tracing

    @Suite(.timeLimit(.minutes(5))) struct ResendTests {
        @Test func aRedirectChainIsOneSpanAHop() async throws {
            let server = try LoopbackServer { request in
                switch request.path {
                case "/a": .redirect(to: "/b", status: 301)
                case "/b": .redirect(to: "/c", status: 302)
                default: .text("there")
                }
            }
            defer { server.stop() }
            let observed = Observed()
            defer { observed.end() }
            try await observed.load(server.url("/a")) { $0.serviceContext = .with(trace: 5, span: 99) }
            let spans = await observed.spans(3).sorted { $0.identity.span < $1.identity.span }
            #expect(spans.map { $0["url.full"] } == ["/a", "/b", "/c"].map { server.url($0) })
            #expect(spans.map { $0["http.request.resend_count"] } == [nil, "1", "2"])
            #expect(spans.allSatisfy { $0.parent == SpanIdentity(trace: 5, span: 99) && $0.status == nil })
            #expect(spans.map(\.links) == [[], [spans[0].identity], [spans[1].identity]])
            #expect(spans.allSatisfy { $0["error.type"] == nil })
            #expect(spans.map { $0["http.response.status_code"] } == ["301", "302", "200"])
            let sent = server.requests.snapshot.map { $0.fields[name: "traceparent"] }
            #expect(sent == spans.map { RecordingTracer.parent($0.identity) })
            #expect(observed.metrics.samples("http.client.request.duration").count == 3)
        }

        @Test func aRedirectThatIsDeclinedIsAResponse() async throws {
            let server = try LoopbackServer { _ in .redirect(to: "/b") }
            defer { server.stop() }
            let observed = Observed(delegate: DecliningDelegate())
            defer { observed.end() }
            let (_, response) = try await observed.load(server.url("/a"))
            #expect((response as? HTTPURLResponse)?.statusCode == 302)
            let span = try await observed.span()
            #expect(span["http.response.status_code"] == "302" && span["error.type"] == nil && span.status == nil)
        }

        @Test func redirectsWithoutEnd() async throws {
            let server = try LoopbackServer { _ in .redirect(to: "/a") }
            defer { server.stop() }
            let observed = Observed()
            defer { observed.end() }
            await #expect(throws: URLError.self) { try await observed.load(server.url("/a")) }
            let spans = await observed.spans(21).sorted { $0.identity.span < $1.identity.span }
            #expect(spans.count == 21 && spans.last?["error.type"] == "URLError.httpTooManyRedirects")
            #expect(spans.dropLast().allSatisfy { $0["error.type"] == nil })
        }

        @Test func aFieldThatIsNotInjectedAgainIsNotSentAgain() async throws {
            let server = try LoopbackServer { request in
                request.path == "/a" ? .redirect(to: "/b") : .text("there")
            }
            defer { server.stop() }
            let observed = Observed { $0.shouldPropagate = { $0.url?.path == "/a" } }
            defer { observed.end() }
            try await observed.load(server.url("/a"))
            _ = await observed.spans(2)
            #expect(server.requests.snapshot.map { $0.fields[name: "traceparent"] != nil } == [true, false])
            #expect(server.requests.snapshot.map { $0.fields[name: "tracestate"] != nil } == [true, false])
        }

        @Test func retriesInFrontAreOneSpanAnAttempt() async throws {
            let left = Box(2)
            let server = try LoopbackServer { _ in
                let fails = left.update { left -> Bool in
                    left -= 1
                    return left >= 0
                }
                return fails ? .text("bad", status: 503) : .text("good")
            }
            defer { server.stop() }
            let observed = Observed(configure: { $0.interceptors.append(retries) })
            defer { observed.end() }
            let (data, _) = try await observed.load(server.url())
            #expect(data == Data("good".utf8))
            let spans = await observed.spans(3).sorted { $0.identity.span < $1.identity.span }
            #expect(spans.map { $0["http.response.status_code"] } == ["503", "503", "200"])
            #expect(spans.map { $0["http.request.resend_count"] } == [nil, "1", "2"])
            #expect(spans.map(\.links) == [[], [spans[0].identity], [spans[1].identity]])
            #expect(Set(spans.map(\.identity.trace)).count == 3, "without a parent each is a trace of its own")
            #expect(
                server.requests.snapshot.map { $0.fields[name: "traceparent"] }
                    == spans.map { RecordingTracer.parent($0.identity) })
        }

        @Test func retriesBehindAreOneSpan() async throws {
            let left = Box(2)
            let server = try LoopbackServer { _ in
                let fails = left.update { left -> Bool in
                    left -= 1
                    return left >= 0
                }
                return fails ? .text("bad", status: 503) : .text("good")
            }
            defer { server.stop() }
            let observed = Observed(behind: { $0.interceptors.append(retries) })
            defer { observed.end() }
            try await observed.load(server.url())
            let spans = await observed.spans(1)
            #expect(spans.map { $0["http.response.status_code"] } == ["200"])
            #expect(server.requests.count == 3)
            let parent = spans.first.map { RecordingTracer.parent($0.identity) }
            #expect(server.requests.snapshot.allSatisfy { $0.fields[name: "traceparent"] == parent })
        }

        @Test func aTelemetryBehindAnotherHasItsSpanForAParent() async throws {
            let server = try LoopbackServer { request in
                request.path == "/a" ? .redirect(to: "/b") : .text("there")
            }
            defer { server.stop() }
            let outside = Observed()
            defer { outside.end() }
            let observed = Observed(configure: { outside.telemetry.install(in: $0) })
            defer { observed.end() }
            try await observed.load(server.url("/a"))
            let inner = await observed.spans(2).sorted { $0.identity.span < $1.identity.span }
            let outer = await outside.spans(2).sorted { $0.identity.span < $1.identity.span }
            #expect(inner.map(\.parent) == outer.map(\.identity))
            #expect(outer.map(\.parent) == [nil, nil])
        }
    }

    private final class DecliningDelegate: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }

    /// Retries that do not wait.
    private var retries: Retries {
        let clock = ResilienceClock(now: { 0 }, date: { Date() }, sleep: { _ in })
        return Retries(RetryPolicy(), clock: clock)
    }
#endif
