#if Telemetry
    import Metrics

    /// The metrics of one attempt. It starts once, and ends once.
    struct AttemptMeters: Sendable {
        private let instruments: HTTPInstruments
        private let factory: any MetricsFactory
        private let facts: RequestFacts
        private let dimensions: MetricDimensions
        private let active: any MeterHandler
        private let start = ContinuousClock.now

        init(
            _ instruments: HTTPInstruments, _ factory: any MetricsFactory, _ facts: RequestFacts, fillsDimensions: Bool
        ) {
            self.instruments = instruments
            self.factory = factory
            self.facts = facts
            dimensions = MetricDimensions(facts, instruments.server(facts), isFilled: fillsDimensions)
            active = instruments.active(dimensions.active(facts), factory)
        }

        func begin() { active.increment(by: 1) }

        func end(_ outcome: AttemptOutcome, _ network: NetworkFacts?) {
            active.decrement(by: 1)
            let ended = instruments.ended(dimensions.ended(facts, outcome, network), factory)
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
