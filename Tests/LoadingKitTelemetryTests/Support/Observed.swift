#if Telemetry
    import Foundation
    import LoadingKit
    import LoadingKitTelemetry
    import Testing
    import Tracing

    /// A session whose requests are observed.
    struct Observed {
        let tracer: RecordingTracer
        let metrics = RecordingMetrics()
        let telemetry: HTTPTelemetry
        let session: URLSession

        /// - Parameters:
        ///   - configure: is called before the telemetry is installed.
        ///   - behind: is called after it is.
        init(
            tracer: RecordingTracer = RecordingTracer(), delegate: (any URLSessionDelegate)? = nil,
            _ change: (inout TelemetryOptions) -> Void = { _ in },
            configure: (URLSessionConfiguration) -> Void = { _ in },
            behind: (URLSessionConfiguration) -> Void = { _ in }
        ) {
            var options = TelemetryOptions()
            options.tracer = tracer
            options.metricsFactory = metrics
            change(&options)
            self.tracer = tracer
            telemetry = HTTPTelemetry(options)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [:]
            configure(configuration)
            telemetry.install(in: configuration)
            behind(configuration)
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }

        func end() { session.invalidateAndCancel() }

        /// The spans, when so many have ended.
        func spans(_ count: Int) async -> [EndedSpan] { await tracer.ended.count(reaches: count) }

        /// The only span, when it has ended.
        func span() async throws -> EndedSpan {
            let spans = await spans(1)
            #expect(spans.count == 1 && tracer.started == 1)
            return try #require(spans.first)
        }

        @discardableResult
        func load(_ text: String, _ change: (inout URLRequest) -> Void = { _ in }) async throws -> (Data, URLResponse) {
            var request = URLRequest(url: try url(text))
            change(&request)
            return try await session.data(for: request)
        }
    }

    /// Runs synchronous code in a context.
    func within<Value>(_ context: ServiceContext, _ body: () throws -> Value) rethrows -> Value {
        try ServiceContext.withValue(context, operation: body)
    }

    func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// Those of `expected` that `got` does not have, as text; a value nil must not be there.
    func differences(_ got: [String: String], _ expected: [String: String?]) -> [String] {
        expected.filter { got[$0.key] != $0.value }.map {
            "\($0.key): \(got[$0.key] ?? "none"), not \($0.value ?? "none")"
        }
        .sorted()
    }
#endif
