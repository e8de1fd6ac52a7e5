#if Telemetry
    import Metrics
    import Foundation
    import LoadingKit
    import Tracing

    /// Spans and metrics of a session's HTTP requests, by OpenTelemetry's conventions.
    ///
    /// ```swift
    /// InstrumentationSystem.bootstrap(tracer)
    /// MetricsSystem.bootstrap(factory)
    /// let telemetry = HTTPTelemetry()
    /// telemetry.install(in: configuration)
    /// ```
    ///
    /// Each sent request is an attempt, with its own span: also each redirect, and each retry where the telemetry is
    /// after the retrying interceptor. Several sessions may share one object; the metrics of their active requests are
    /// then counted together.
    public final class HTTPTelemetry: Sendable {
        /// The options of this object.
        public let options: TelemetryOptions
        let redaction: URLRedaction
        let traces = TaskTraces()
        let instruments: HTTPInstruments

        /// Makes spans and metrics with these options.
        public init(_ options: TelemetryOptions = TelemetryOptions()) {
            self.options = options
            redaction = URLRedaction(secretNames: options.secretNames)
            instruments = HTTPInstruments(maximumServers: options.maximumServers)
        }

        /// Whether there is an active tracer or metrics factory: one of the options, or one that the process has
        /// bootstrapped.
        public var isActive: Bool { activeTracer != nil || activeFactory != nil }

        /// Records the parent of the spans of a task's requests. For a delegate's `urlSession(_:didCreateTask:)`, which
        /// is called where the program creates the task.
        ///
        /// A request's own `URLRequest.serviceContext` takes precedence.
        ///
        /// - Parameter context: default: the context of the calling Swift task.
        public func noteParent(_ context: ServiceContext? = .current, of task: URLSessionTask) {
            if let context { traces.setParent(context, of: task) }
        }

        /// A delegate that only calls ``noteParent(_:of:)``: for a session without a delegate, or for one load:
        /// `session.data(for: request, delegate: telemetry.makeDelegate())`.
        public func makeDelegate() -> any URLSessionTaskDelegate { TelemetryDelegate(self) }

        var activeTracer: (any Tracer)? {
            if let tracer = options.tracer { return tracer }
            let tracer = InstrumentationSystem.tracer
            return tracer is NoOpTracer ? nil : tracer
        }

        var activeFactory: (any MetricsFactory)? {
            if let factory = options.metricsFactory { return factory }
            let factory = MetricsSystem.factory
            return factory is NOOPMetricsHandler ? nil : factory
        }
    }

    extension HTTPTelemetry: LoadInterceptor {
        /// Observes the requests of a configuration's sessions, after its existing interceptors. Install an interceptor
        /// that retries first: each of its attempts then has its own span. In the other order, all attempts share one
        /// span.
        public func install(in configuration: URLSessionConfiguration) { configuration.interceptors.append(self) }

        /// Whether the request's scheme is `http` or `https`, and there is a backend: without one, requests do not pass
        /// through the telemetry.
        public func canIntercept(_ request: URLRequest) -> Bool {
            guard let scheme = request.url?.scheme?.lowercased() else { return false }
            return (scheme == "https" || scheme == "http") && isActive
        }

        /// Backends must not block when spans start and end, and when values are recorded.
        public var runsOnSessionExecutor: Bool { true }

        /// Loads with the handlers after this one, with a span and metrics.
        public func load(_ load: LoadContext) async throws {
            let (tracer, factory) = (activeTracer, activeFactory)
            guard tracer != nil || factory != nil, let facts = RequestFacts(load.request, options, redaction) else {
                return try await load.receive(load.next.load(load.request, redirects: .returned))
            }
            try await Attempt(self, load, facts, tracer, factory).run()
        }
    }

    private final class TelemetryDelegate: NSObject, URLSessionTaskDelegate {
        private let telemetry: HTTPTelemetry

        init(_ telemetry: HTTPTelemetry) { self.telemetry = telemetry }

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { telemetry.noteParent(of: task) }
    }
#endif
