#if Telemetry
    import Foundation
    import LoadingKit

    extension HTTPTelemetry: LoadInterceptor {
        /// Observes the requests of a configuration's sessions, behind the interceptors that it has. So what retries
        /// comes first: each of its attempts has a span then. The other way round, all of them have one.
        public func install(in configuration: URLSessionConfiguration) { configuration.interceptors.append(self) }

        /// Whether the request is one of `http` or `https`, and there is a backend: without one, requests do not pass
        /// through the telemetry.
        public func canIntercept(_ request: URLRequest) -> Bool {
            guard let scheme = request.url?.scheme?.lowercased() else { return false }
            return (scheme == "https" || scheme == "http") && isActive
        }

        /// Backends must not block where spans begin and end, and values are recorded.
        public var runsOnSessionExecutor: Bool { true }

        /// Loads by the handlers behind this one, with a span and metrics.
        public func load(_ load: LoadContext) async throws {
            let (tracer, factory) = (activeTracer, activeFactory)
            guard tracer != nil || factory != nil, let facts = RequestFacts(load.request, options, redaction) else {
                return try await Forwarding.deliver(Forwarding.load(load.request, of: load), to: load)
            }
            try await Attempt(self, load, facts, tracer, factory).run()
        }
    }
#endif
