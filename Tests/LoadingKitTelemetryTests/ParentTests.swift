#if Telemetry
    import Foundation
    import LoadingKit
    import LoadingKitLoopbackServer
    import LoadingKitTelemetry
    import Testing
    import Tracing

    @Suite(.timeLimit(.minutes(5))) struct ParentTests {
        private let parent = ServiceContext.with(trace: 7, span: 70)

        @Test func ofAnAsynchronousLoadByARequest() async throws {
            let server = try LoopbackServer { _ in .text("") }
            defer { server.stop() }
            let observed = Observed()
            defer { observed.end() }
            var request = URLRequest(url: try url(server.url()))
            let plain = request
            within(parent) { request.serviceContext = .current }
            #expect(request == plain && request.serviceContext?.identity == parent.identity)
            _ = try await observed.session.data(for: request)
            let span = try await observed.span()
            #expect(span.parent == parent.identity && span.identity.trace == 7)
            #expect(server.requests.last?.fields[name: "traceparent"] == RecordingTracer.parent(span.identity))
            #expect(server.requests.last?.fields[name: "tracestate"] == "test=\(span.identity.span)")
            #expect(
                server.requests.last?.fields.contains { $0.name.contains("LoadingKitTelemetry") } == false)
            request.serviceContext = nil
            #expect(request.serviceContext == nil)
        }

        @Test func ofAnAsynchronousLoadByADelegate() async throws {
            let server = try LoopbackServer { _ in .text("") }
            defer { server.stop() }
            let observed = Observed()
            defer { observed.end() }
            let (session, delegate) = (observed.session, observed.telemetry.makeDelegate())
            let url = try url(server.url())
            try await ServiceContext.withValue(parent) { _ = try await session.data(from: url, delegate: delegate) }
            #expect(try await observed.span().parent == parent.identity)
        }

        @Test func ofTasksOfASession() async throws {
            let server = try LoopbackServer { _ in .text("") }
            defer { server.stop() }
            let delegate = ForwardingDelegate()
            let observed = Observed(delegate: delegate)
            defer { observed.end() }
            delegate.telemetry.value = observed.telemetry
            let url = try url(server.url())
            for number in 1...3 {
                let task = within(.with(trace: number, span: 100 + number)) {
                    observed.session.dataTask(with: url)
                }
                task.resume()
                _ = await observed.spans(number)
            }
            #expect(await observed.spans(3).map(\.parent?.span) == [101, 102, 103])
        }

        @Test func ofLoadsAtTheSameTime() async throws {
            let server = try LoopbackServer { _ in .text("") }
            defer { server.stop() }
            let (first, second) = (Observed(), Observed())
            defer {
                first.end()
                second.end()
            }
            let url = try url(server.url())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...20 {
                    let session = (number % 2 == 0 ? first : second).session
                    group.addTask {
                        var request = URLRequest(url: url)
                        request.serviceContext = .with(trace: number, span: 100 + number)
                        _ = try await session.data(for: request)
                    }
                }
                try await group.waitForAll()
            }
            #expect(
                await first.spans(10).map { $0.parent?.trace ?? 0 }.sorted()
                    == Array(stride(from: 2, through: 20, by: 2)))
            #expect(
                await second.spans(10).map { $0.parent?.trace ?? 0 }.sorted()
                    == Array(stride(from: 1, through: 19, by: 2)))
            #expect(first.tracer.started == 10 && second.tracer.started == 10)
            #expect(first.metrics.samples("http.client.request.duration").count == 10)
        }

        @Test func fieldsThatHTTPDoesNotAllowAreNotInjected() async throws {
            let server = try LoopbackServer { _ in .text("") }
            defer { server.stop() }
            let observed = Observed(
                tracer: RecordingTracer(injection: [
                    ("baggage", "a=b"), ("bad name", "1"), ("x-bad", "1\r\n2"), ("", "1"),
                ]))
            defer { observed.end() }
            try await observed.load(server.url())
            let fields = try #require(server.requests.last).fields
            #expect(fields[name: "baggage"] == "a=b" && fields[name: "x-bad"] == nil)
        }
    }

    private final class ForwardingDelegate: NSObject, URLSessionDataDelegate {
        let telemetry = Box<HTTPTelemetry?>(nil)

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
            telemetry.value?.noteParent(of: task)
        }
    }
#endif
