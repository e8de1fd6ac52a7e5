#if Telemetry
    /// The dimensions of a metric: those of the conventions, in their order.
    struct MetricDimensions: Hashable, Sendable {
        private var names: [String] = []
        private var values: [String] = []
        private let isFilled: Bool

        /// - Parameter isFilled: whether dimensions that do not apply are included, with empty values.
        init(isFilled: Bool) { self.isFilled = isFilled }

        mutating func append(_ name: String, _ value: String?) {
            guard isFilled || value != nil else { return }
            names.append(name)
            values.append(value ?? "")
        }

        var pairs: [(String, String)] { Array(zip(names, values)) }
    }

    extension MetricDimensions {
        /// The dimensions of every metric.
        init(_ facts: RequestFacts, _ server: MetricServer, isFilled: Bool) {
            self.init(isFilled: isFilled)
            append("http.request.method", facts.method)
            append("server.address", server.address)
            append("server.port", String(server.port))
        }

        /// The dimensions of active requests.
        func active(_ facts: RequestFacts) -> MetricDimensions {
            var dimensions = self
            dimensions.append("url.scheme", facts.scheme)
            dimensions.append("url.template", facts.template)
            return dimensions
        }

        /// The dimensions of an ended request.
        func ended(_ facts: RequestFacts, _ outcome: AttemptOutcome, _ network: NetworkFacts?) -> MetricDimensions {
            var dimensions = self
            dimensions.append("error.type", outcome.errorType)
            dimensions.append("http.response.status_code", outcome.status.map { String($0) })
            dimensions.append("network.protocol.name", network?.protocolName)
            dimensions.append("network.protocol.version", network?.protocolVersion)
            dimensions.append("url.scheme", facts.scheme)
            dimensions.append("url.template", facts.template)
            return dimensions
        }
    }
#endif
