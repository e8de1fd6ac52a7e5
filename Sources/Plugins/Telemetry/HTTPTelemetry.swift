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
        /// A request's own ``LoadingKit/URLRequest/serviceContext`` takes precedence.
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

    private final class TelemetryDelegate: NSObject, URLSessionTaskDelegate {
        private let telemetry: HTTPTelemetry

        init(_ telemetry: HTTPTelemetry) { self.telemetry = telemetry }

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { telemetry.noteParent(of: task) }
    }
#endif
