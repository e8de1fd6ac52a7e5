#if Telemetry
    import Metrics
    import Foundation
    import LoadingKit
    import Tracing

    /// Spans and metrics of a session's HTTP requests, by the conventions of OpenTelemetry.
    ///
    /// ```swift
    /// InstrumentationSystem.bootstrap(tracer)
    /// MetricsSystem.bootstrap(factory)
    /// let telemetry = HTTPTelemetry()
    /// telemetry.install(in: configuration)
    /// ```
    ///
    /// Each request that is sent is an attempt, with a span of its own: also each redirect's, and each retry's where
    /// the telemetry is behind what retries. Several sessions may have one object; then the metrics of their active
    /// requests are counted together.
    public final class HTTPTelemetry: Sendable {
        /// What the object was made with.
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

        /// Whether there is a tracer or a factory of metrics that does something: one of the options', or one that the
        /// process has bootstrapped.
        public var isActive: Bool { activeTracer != nil || activeFactory != nil }

        /// Notes the parent of the spans of a task's requests, for a delegate's `urlSession(_:didCreateTask:)`, which
        /// is called where the program makes the task.
        ///
        /// A request's own ``LoadingKit/URLRequest/serviceContext`` comes first.
        ///
        /// - Parameter context: default: that of the Swift task that calls this.
        public func noteParent(_ context: ServiceContext? = .current, of task: URLSessionTask) {
            if let context { traces.setParent(context, of: task) }
        }

        /// A delegate that calls ``noteParent(_:of:)``, and does nothing else: for a session without a delegate, or for
        /// one load: `session.data(for: request, delegate: telemetry.makeDelegate())`.
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

    private final class TelemetryDelegate: NSObject, URLSessionTaskDelegate {
        private let telemetry: HTTPTelemetry

        init(_ telemetry: HTTPTelemetry) { self.telemetry = telemetry }

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { telemetry.noteParent(of: task) }
    }
#endif
