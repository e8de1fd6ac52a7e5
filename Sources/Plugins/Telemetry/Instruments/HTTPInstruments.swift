#if Telemetry
    import Metrics
    import Synchronization

    /// The name of a server in metrics.
    struct MetricServer: Hashable, Sendable {
        let address: String
        let port: Int

        /// Stands for the servers beyond the limit.
        static let other = MetricServer(address: RequestFacts.other, port: 0)
    }

    /// The instruments of a telemetry object, which its sessions share.
    final class HTTPInstruments: Sendable {
        private struct State {
            var servers: Set<MetricServer> = []
            /// Kept permanently: a recreated instrument may start at 0. Their number depends on the numbers of servers,
            /// methods and templates.
            var active: [MetricDimensions: any MeterHandler] = [:]
            var ended: [MetricDimensions: EndedInstruments] = [:]
        }

        /// The largest number of kept instruments; those for further dimensions are made again by the factory, which
        /// has them.
        private static let maximumEnded = 2_000

        private let state = Mutex(State())
        private let maximumServers: Int

        init(maximumServers: Int) { self.maximumServers = maximumServers }

        /// The name of the server in metrics: `_OTHER` beyond the limit.
        func server(_ facts: RequestFacts) -> MetricServer {
            let server = MetricServer(address: facts.serverAddress, port: facts.serverPort)
            return state.withLock { state in
                if state.servers.contains(server) { return server }
                guard state.servers.count < maximumServers else { return .other }
                state.servers.insert(server)
                return server
            }
        }

        func active(_ dimensions: MetricDimensions, _ factory: any MetricsFactory) -> any MeterHandler {
            if let known = state.withLock({ $0.active[dimensions] }) { return known }
            let made = factory.makeMeter(label: "http.client.active_requests", dimensions: dimensions.pairs)
            return state.withLock { state in
                if let known = state.active[dimensions] { return known }
                state.active[dimensions] = made
                return made
            }
        }

        func ended(_ dimensions: MetricDimensions, _ factory: any MetricsFactory) -> EndedInstruments {
            if let known = state.withLock({ $0.ended[dimensions] }) { return known }
            let made = EndedInstruments(dimensions.pairs, factory)
            state.withLock { state in
                if state.ended.count >= Self.maximumEnded { state.ended.removeAll() }
                state.ended[dimensions] = made
            }
            return made
        }
    }

    /// The recorded values of ended requests.
    struct EndedInstruments: Sendable {
        /// In seconds: swift-metrics takes nanoseconds, and the display unit for the backend is seconds.
        let duration: any TimerHandler
        /// In bytes.
        let requestBodySize: any RecorderHandler
        /// In bytes.
        let responseBodySize: any RecorderHandler

        init(_ dimensions: [(String, String)], _ factory: any MetricsFactory) {
            duration = factory.makeTimer(label: "http.client.request.duration", dimensions: dimensions)
            duration.preferDisplayUnit(.seconds)
            requestBodySize = factory.makeRecorder(
                label: "http.client.request.body.size", dimensions: dimensions, aggregate: true)
            responseBodySize = factory.makeRecorder(
                label: "http.client.response.body.size", dimensions: dimensions, aggregate: true)
        }
    }
#endif
