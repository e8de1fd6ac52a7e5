#if Telemetry
    import Metrics
    import LoadingKit
    import LoadingKitForms
    import Tracing

    /// What spans and metrics have, and where they go.
    public struct TelemetryOptions: Sendable {
        /// Makes the spans. Default nil: the tracer that the process has bootstrapped, if it has.
        public var tracer: (any Tracer)?
        /// Makes the metrics. Default nil: the factory that the process has bootstrapped, if it has.
        public var metricsFactory: (any MetricsFactory)?
        /// The template of a request's path, such as `/users/{id}`, which becomes part of the span's name and the
        /// attribute `url.template`, also of metrics. There must be few of them. Default nil: none.
        public var urlTemplate: (@Sendable (URLRequest) -> String?)?
        /// Whether a request takes the trace along, in the fields that the tracer writes (`traceparent`, `tracestate`,
        /// `baggage`). Default nil: each does. Servers of others learn the trace's identifier, and the baggage.
        public var shouldPropagate: (@Sendable (URLRequest) -> Bool)?
        /// The methods that attributes name, as they are spelled here (RFC 9110 §9, RFC 5789). Others are `_OTHER`.
        public var knownMethods: Set<String> = [
            "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
        ]
        /// Names in queries and fragments whose values are `REDACTED` in `url.full`. They are compared without regard
        /// to case, `-` and `_`. Default: `SecretNames.queryItems` of LoadingKitForms. User and password are redacted
        /// in any case.
        public var secretNames: Set<String> = SecretNames.queryItems
        /// How many servers (name and port) metrics tell apart. Those that come later are `_OTHER` with port 0. Default
        /// 1,000.
        public var maximumServers = 1_000
        /// Whether metrics have every dimension, empty where it does not apply. Default false: such dimensions are left
        /// out. Backends in which all series of a metric have the same names need true.
        public var fillsDimensions = false

        /// The default options.
        public init() {}
    }
#endif
