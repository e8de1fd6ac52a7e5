#if Telemetry
    import Foundation
    import LoadingKit
    import LoadingKitLoopbackServer
    import LoadingKitTelemetry
    import TestSupport
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct MetricsTests {
        @Test func dimensionsAreThoseOfTheConventions() async throws {
            let server = try LoopbackServer { _ in .text("hello", status: 503) }
            defer { server.stop() }
            let port = String(try #require(server.address.port))
            for isFilled in [false, true] {
                let observed = Observed { $0.fillsDimensions = isFilled }
                defer { observed.end() }
                try await observed.load(server.url()) { request in
                    request.httpMethod = "PUT"
                    request.httpBody = Data("abc".utf8)
                }
                _ = try await observed.span()
                var ended = [
                    "http.request.method": "PUT", "server.address": "127.0.0.1", "server.port": port,
                    "error.type": "503", "http.response.status_code": "503", "network.protocol.name": "http",
                    "network.protocol.version": "1.1", "url.scheme": "http",
                ]
                var active = ended.filter { !$0.key.hasPrefix("network") && $0.key != "error.type" }
                active["http.response.status_code"] = nil
                if isFilled { (ended["url.template"], active["url.template"]) = ("", "") }
                let metrics = observed.metrics
                let durations = metrics.samples("http.client.request.duration")
                #expect(durations.map(\.dimensions) == [ended] && durations.allSatisfy { $0.value > 0 })
                let sizes = ["request", "response"].flatMap { metrics.samples("http.client.\($0).body.size") }
                #expect(sizes.map(\.dimensions) == [ended, ended] && sizes.map(\.value) == [3, 5])
                let requests = metrics.samples("http.client.active_requests")
                #expect(requests.map(\.dimensions) == [active, active] && requests.map(\.value) == [1, -1])
            }
        }

        @Test func aRequestIsActiveUntilItsBodyIsRead() async throws {
            let rest = Signal()
            let server = try LoopbackServer { request in
                .stream(.length(2)) { writer in
                    try writer.write([1])
                    try request.exchange.wait(for: rest)
                    try writer.write([2])
                }
            }
            defer { server.stop() }
            let observed = Observed()
            defer { observed.end() }
            let (bytes, _) = try await observed.session.bytes(from: try url(server.url()))
            var iterator = bytes.makeAsyncIterator()
            #expect(try await iterator.next() == 1)
            #expect(observed.metrics.samples.map(\.value) == [1] && observed.tracer.ended.count == 0)
            rest.fire()
            #expect(try await iterator.next() == 2)
            #expect(try await iterator.next() == nil)
            _ = try await observed.span()
            #expect(observed.metrics.samples("http.client.active_requests").map(\.value) == [1, -1])
        }

        @Test func instrumentsAreMadeOnce() async throws {
            let server = try LoopbackServer { _ in .text("") }
            defer { server.stop() }
            let observed = Observed()
            defer { observed.end() }
            for _ in 1...5 { try await observed.load(server.url()) }
            _ = await observed.spans(5)
            #expect(observed.metrics.made == 4)
            #expect(observed.metrics.samples("http.client.request.duration").count == 5)
        }

        @Test func serversBeyondTheLimitAreOther() async throws {
            let servers = try (0..<3).map { _ in try LoopbackServer { _ in .text("") } }
            defer { for server in servers { server.stop() } }
            let observed = Observed { $0.maximumServers = 2 }
            defer { observed.end() }
            for server in servers { try await observed.load(server.url()) }
            _ = await observed.spans(3)
            let ports = observed.metrics.samples("http.client.request.duration").map { $0.dimensions["server.port"] }
            #expect(ports == servers.prefix(2).map { $0.address.port.map { "\($0)" } } + ["0"])
            #expect(
                observed.metrics.samples("http.client.request.duration").map { $0.dimensions["server.address"] }
                    == ["127.0.0.1", "127.0.0.1", "_OTHER"])
        }

        @Test func withoutABackendNothingIsObserved() async throws {
            let server = try LoopbackServer { request in
                .text("\(request.fields.contains { $0.name == "traceparent" })")
            }
            defer { server.stop() }
            let telemetry = HTTPTelemetry()
            #expect(!telemetry.isActive)
            let configuration = URLSessionConfiguration.ephemeral
            telemetry.install(in: configuration)
            #expect(!telemetry.canIntercept(URLRequest(url: try url(server.url()))))
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            #expect(try await session.data(from: try url(server.url())).0 == Data("false".utf8))
        }

        @Test func spansAloneAndMetricsAlone() async throws {
            let server = try LoopbackServer { _ in .text("") }
            defer { server.stop() }
            let spans = Observed { $0.metricsFactory = nil }
            defer { spans.end() }
            try await spans.load(server.url())
            #expect(await spans.spans(1).count == 1 && spans.metrics.made == 0)
            let metrics = Observed { $0.tracer = nil }
            defer { metrics.end() }
            try await metrics.load(server.url())
            try await waitUntil { !metrics.metrics.samples("http.client.request.duration").isEmpty }
            #expect(metrics.tracer.started == 0)
            #expect(server.requests.last?.fields.contains { $0.name == "traceparent" } == false)
        }
    }
#endif
