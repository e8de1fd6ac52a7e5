#if Telemetry
    import Foundation
    import LoadingKit
    import LoadingKitLoopbackServer
    import LoadingKitTelemetry
    import TestSupport
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct StatisticsTests {
        private static func makeReporter(_ metrics: RecordingMetrics, session: String? = nil) -> StatisticsReporter {
            var options = TelemetryOptions()
            options.metricsFactory = metrics
            return StatisticsReporter(options, session: session)
        }

        private static func makeSession() -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [:]
            return URLSession(configuration: configuration)
        }

        struct Figure: Sendable, CustomTestStringConvertible {
            let label: String
            var dimensions: [String: String] = [:]
            /// The values of two reports; nil where a report has none.
            let values: [Double?]

            var testDescription: String { "\(label) \(dimensions)" }
        }

        static let figures = [
            Figure(label: "tasks.begun", values: [2, 3]), Figure(label: "tasks.succeeded", values: [1, nil]),
            Figure(label: "tasks.failed", dimensions: ["error.type": "URLError.timedOut"], values: [1, 3]),
            Figure(label: "tasks", dimensions: ["kind": "data", "state": "running"], values: [4, 0]),
            Figure(label: "requests.waiting", values: [7, 2]),
            Figure(label: "requests.retried", dimensions: ["reason": "connectionLost"], values: [nil, 2]),
            Figure(label: "responses", dimensions: ["http.response.status_class": "4xx"], values: [5, nil]),
            Figure(label: "connections", dimensions: ["protocol": "http2", "state": "idle"], values: [1, 0]),
            Figure(label: "bytes", dimensions: ["kind": "decoded"], values: [1000, 1]),
            Figure(label: "cache.hits", dimensions: ["reason": "fresh"], values: [1, 1]),
            Figure(label: "times.count", dimensions: ["kind": "first_byte"], values: [2, 1]),
            Figure(label: "times.sum", dimensions: ["kind": "first_byte"], values: [3, 4]),
            Figure(label: "memory", dimensions: ["kind": "chunks"], values: [0, 256]),
        ]

        /// Counters get the difference, meters the value: also 0 for what is no longer there.
        @Test(arguments: figures, [nil, "images"]) func reports(_ figure: Figure, _ name: String?) async throws {
            var statistics = URLSession.Statistics()
            statistics.tasks.begun = 2
            statistics.tasks.succeeded = 1
            statistics.tasks.failed = [.timedOut: 1]
            statistics.tasks.data.running = 4
            statistics.requests.waiting = 7
            statistics.requests.responses = [4: 5]
            statistics.connections.open["http2", default: .init()].idle = 1
            statistics.bytes.decoded = 1000
            statistics.cache.hits = ["fresh": 1]
            statistics.firstBytes.count = 2
            statistics.firstBytes.total = 3
            let metrics = RecordingMetrics()
            let reporter = Self.makeReporter(metrics, session: name)
            await reporter.report(statistics)
            let first = metrics.samples.count
            statistics.tasks.begun = 5
            statistics.tasks.failed = [.timedOut: 4]
            statistics.tasks.data.running = 0
            statistics.requests.waiting = 2
            statistics.requests.retries = ["connectionLost": 2]
            statistics.connections.open = [:]
            statistics.bytes.decoded = 1001
            statistics.cache.hits = ["fresh": 2]
            statistics.firstBytes.count = 3
            statistics.firstBytes.total = 7
            statistics.memory.chunks = 256
            await reporter.report(statistics)
            let dimensions = figure.dimensions.merging(name.map { ["loadingkit.session": $0] } ?? [:]) { $1 }
            for (samples, expected) in zip([metrics.samples[..<first], metrics.samples[first...]], figure.values) {
                let found = samples.filter { $0.label == "loadingkit.\(figure.label)" && $0.dimensions == dimensions }
                #expect(found.map(\.value) == (expected.map { [$0] } ?? []))
            }
        }

        @Test func instrumentsAreMadeOnce() async throws {
            let metrics = RecordingMetrics()
            let reporter = Self.makeReporter(metrics)
            await reporter.report(URLSession.Statistics())
            let made = metrics.made
            await reporter.report(URLSession.Statistics())
            #expect(made > 0 && metrics.made == made)
        }

        @Test func aSessionIsReportedUntilItIsInvalidated() async throws {
            let server = try LoopbackServer { _ in .text("hello") }
            defer { server.stop() }
            let (metrics, session) = (RecordingMetrics(), Self.makeSession())
            let reports = session.reportStatistics(every: .milliseconds(1), to: Self.makeReporter(metrics))
            _ = try await session.data(from: try url(server.url()))
            session.invalidateAndCancel()
            try await withTimeout { await reports.value }
            #expect(metrics.samples("loadingkit.tasks.succeeded").map(\.value) == [1])
            #expect(metrics.samples("loadingkit.connections.opened").map(\.value) == [1])
        }

        /// The last report comes with the cancellation.
        @Test func reportsEndOnRequest() async throws {
            let (metrics, session) = (RecordingMetrics(), Self.makeSession())
            defer { session.invalidateAndCancel() }
            let reports = session.reportStatistics(every: .seconds(100_000), to: Self.makeReporter(metrics))
            _ = try await session.data(from: try url("data:,hello"))
            reports.cancel()
            try await withTimeout { await reports.value }
            #expect(metrics.samples("loadingkit.tasks.succeeded").map(\.value) == [1])
        }

        @Test func reportsDoNotHoldTheSession() async throws {
            let metrics = RecordingMetrics()
            weak var session: URLSession?
            let reports: Task<Void, Never>
            do {
                let made = Self.makeSession()
                session = made
                reports = made.reportStatistics(every: .milliseconds(1), to: Self.makeReporter(metrics))
            }
            try await withTimeout { await reports.value }
            #expect(session == nil)
        }

        @Test func withoutAFactoryNothingIsReported() async throws {
            let reporter = StatisticsReporter()
            #expect(!reporter.isActive)
            let session = Self.makeSession()
            defer { session.invalidateAndCancel() }
            try await withTimeout { await session.reportStatistics(every: .seconds(100_000), to: reporter).value }
        }
    }
#endif
