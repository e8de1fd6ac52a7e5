#if Telemetry
    import Metrics

    /// The dimensions of a metric: those of the conventions, in their order.
    struct MetricDimensions: Hashable, Sendable {
        private let names: [String]
        private let values: [String]

        /// - Parameter isFilled: whether dimensions that do not apply are included, with empty values.
        init(_ dimensions: KeyValuePairs<String, String?>, isFilled: Bool) {
            let present = dimensions.filter { isFilled || $0.value != nil }
            names = present.map(\.key)
            values = present.map { $0.value ?? "" }
        }

        var pairs: [(String, String)] { Array(zip(names, values)) }
    }

    /// The metrics of one attempt. It starts once, and ends once.
    struct AttemptMeters: Sendable {
        private let instruments: HTTPInstruments
        private let factory: any MetricsFactory
        private let facts: RequestFacts
        private let server: MetricServer
        private let fillsDimensions: Bool
        private let active: any MeterHandler
        private let start = ContinuousClock.now

        init(
            _ instruments: HTTPInstruments, _ factory: any MetricsFactory, _ facts: RequestFacts, fillsDimensions: Bool
        ) {
            self.instruments = instruments
            self.factory = factory
            self.facts = facts
            self.fillsDimensions = fillsDimensions
            server = instruments.server(facts)
            let dimensions = MetricDimensions(
                [
                    "http.request.method": facts.method, "server.address": server.address,
                    "server.port": String(server.port), "url.scheme": facts.scheme, "url.template": facts.template,
                ], isFilled: fillsDimensions)
            active = instruments.active(dimensions, factory)
        }

        func begin() { active.increment(by: 1) }

        func end(_ outcome: AttemptOutcome, _ network: NetworkFacts?) {
            active.decrement(by: 1)
            let dimensions = MetricDimensions(
                [
                    "http.request.method": facts.method, "server.address": server.address,
                    "server.port": String(server.port), "error.type": outcome.errorType,
                    "http.response.status_code": outcome.status.map { String($0) },
                    "network.protocol.name": network?.protocolName,
                    "network.protocol.version": network?.protocolVersion, "url.scheme": facts.scheme,
                    "url.template": facts.template,
                ], isFilled: fillsDimensions)
            let ended = instruments.ended(dimensions, factory)
            ended.duration.recordNanoseconds(Self.nanoseconds(ContinuousClock.now - start))
            if let size = network?.requestBodySize { ended.requestBodySize.record(size) }
            if let size = network?.responseBodySize { ended.responseBodySize.record(size) }
        }

        static func nanoseconds(_ duration: Duration) -> Int64 {
            let (seconds, attoseconds) = duration.components
            let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            let (sum, isBeyond) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
            return isTooLong || isBeyond ? .max : sum
        }
    }
#endif
