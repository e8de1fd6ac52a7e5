#if Telemetry
    import Foundation
    import LoadingKit

    extension HTTPTelemetry: LoadInterceptor {
        /// Observes the requests of a configuration's sessions, after its existing interceptors. Install an interceptor
        /// that retries first: each of its attempts then has its own span. In the other order, all attempts share one
        /// span.
        public func install(in configuration: URLSessionConfiguration) { configuration.interceptors.append(self) }

        /// Whether the request's scheme is `http` or `https`, and there is a backend: without one, requests do not pass
        /// through the telemetry.
        public func canIntercept(_ request: URLRequest) -> Bool {
            guard let scheme = request.url?.scheme?.lowercased() else { return false }
            return (scheme == "https" || scheme == "http") && isActive
        }

        /// Backends must not block when spans start and end, and when values are recorded.
        public var runsOnSessionExecutor: Bool { true }

        /// Loads with the handlers after this one, with a span and metrics.
        public func load(_ load: LoadContext) async throws {
            let (tracer, factory) = (activeTracer, activeFactory)
            guard tracer != nil || factory != nil, let facts = RequestFacts(load.request, options, redaction) else {
                return try await Forwarding.deliver(Forwarding.load(load.request, of: load), to: load)
            }
            try await Attempt(self, load, facts, tracer, factory).run()
        }
    }
#endif
