#if Telemetry
    import Metrics
    import Synchronization

    /// A server as metrics name it.
    struct MetricServer: Hashable, Sendable {
        let address: String
        let port: Int

        /// Those beyond the limit.
        static let other = MetricServer(address: RequestFacts.other, port: 0)
    }

    /// The instruments of a telemetry object, which its sessions share.
    final class HTTPInstruments: Sendable {
        private struct State {
            var servers: Set<MetricServer> = []
            /// Kept for good: an instrument that is made anew may begin at 0. There are as many as servers, methods and
            /// templates.
            var active: [MetricDimensions: any MeterHandler] = [:]
            var ended: [MetricDimensions: EndedInstruments] = [:]
        }

        /// Instruments that are kept; those of further dimensions are made again by the factory, which knows them.
        private static let maximumEnded = 2_000

        private let state = Mutex(State())
        private let maximumServers: Int

        init(maximumServers: Int) { self.maximumServers = maximumServers }

        /// The server as metrics name it: beyond the limit, `_OTHER`.
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

    /// What is recorded of requests that are over.
    struct EndedInstruments: Sendable {
        /// Seconds: swift-metrics takes nanoseconds, and the backend is asked to show seconds.
        let duration: any TimerHandler
        /// Bytes.
        let requestBodySize: any RecorderHandler
        /// Bytes.
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
