#if Telemetry
    import Metrics
    import LoadingKit
    import LoadingKitForms
    import Tracing

    /// The contents and the backends of spans and metrics.
    public struct TelemetryOptions: Sendable {
        /// Makes the spans. Default nil: the tracer that the process has bootstrapped, if there is one.
        public var tracer: (any Tracer)?
        /// Makes the metrics. Default nil: the factory that the process has bootstrapped, if there is one.
        public var metricsFactory: (any MetricsFactory)?
        /// The template of a request's path, such as `/users/{id}`, which becomes part of the span's name and the
        /// attribute `url.template`, also of metrics. Use few different templates. Default nil: none.
        public var urlTemplate: (@Sendable (URLRequest) -> String?)?
        /// Whether a request carries the trace, in the fields that the tracer writes (`traceparent`, `tracestate`,
        /// `baggage`). Default nil: every request does. Other parties' servers then receive the trace's identifier, and
        /// the baggage.
        public var shouldPropagate: (@Sendable (URLRequest) -> Bool)?
        /// The methods that attributes name, with this spelling (RFC 9110 §9, RFC 5789). Others are `_OTHER`.
        public var knownMethods: Set<String> = [
            "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
        ]
        /// Names in queries and fragments whose values are `REDACTED` in `url.full`. They are compared regardless of
        /// case, `-` and `_`. Of a name such as `user[password]` each part is compared, too. Default:
        /// `SecretNames.queryItems` of LoadingKitForms. User and password are always redacted.
        public var secretNames: Set<String> = SecretNames.queryItems
        /// The number of servers (name and port) that metrics distinguish. Further servers are `_OTHER` with port 0.
        /// Default 1,000.
        public var maximumServers = 1_000
        /// Whether metrics have every dimension, empty where it does not apply. Default false: such dimensions are left
        /// out. Use true for backends that require the same dimension names in all series of a metric.
        public var fillsDimensions = false

        /// Makes the default options.
        public init() {}
    }
#endif
