#if Telemetry
    import Metrics
    import Foundation
    import LoadingKit
    import Tracing

    /// One exchange of a request and its response: its span, and its metrics.
    struct Attempt {
        private let load: LoadContext
        private let request: URLRequest
        private let span: (any Span)?
        private let meters: AttemptMeters?

        init(
            _ telemetry: HTTPTelemetry, _ load: LoadContext, _ facts: RequestFacts, _ tracer: (any Tracer)?,
            _ factory: (any MetricsFactory)?
        ) {
            self.load = load
            meters = factory.map {
                AttemptMeters(telemetry.instruments, $0, facts, fillsDimensions: telemetry.options.fillsDimensions)
            }
            guard let tracer else {
                (span, request) = (nil, load.request)
                return
            }
            let outer = load.request.context?.outside(of: telemetry)
            let trace = telemetry.traces.begin(load.task, parent: outer?.context)
            let span = Self.start(tracer, facts, trace.parent)
            if span.isRecording {
                span.attributes.merge(facts.attributes(resendCount: trace.resendCount))
                if let previous = trace.previous { span.addLink(SpanLink(context: previous, attributes: [:])) }
            }
            var request = load.request
            for name in trace.injected { request.setValue(nil, forHTTPHeaderField: name) }
            var fields: [(name: String, value: String)] = []
            if telemetry.options.shouldPropagate?(load.request) ?? true {
                tracer.inject(span.context, into: &fields, using: FieldInjector())
                for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            }
            request.setContext(RequestContext(span.context, owner: telemetry, outer: outer))
            telemetry.traces.note(span.context, injected: fields.map(\.name), of: load.task)
            (self.span, self.request) = (span, request)
        }

        private static func start(_ tracer: some Tracer, _ facts: RequestFacts, _ parent: ServiceContext) -> any Span {
            tracer.startSpan(facts.spanName, context: parent, ofKind: .client)
        }

        /// Makes the attempt. Throws its error.
        func run() async throws {
            meters?.begin()
            let loaded: LoadedResponse
            do {
                loaded = try await load.next.load(request, redirects: .returned)
            } catch {
                end(await outcome(of: error, nil, isRedirect: false))
                throw error
            }
            let status = (loaded.response as? HTTPURLResponse)?.statusCode
            do {
                try await load.receive(loaded)
            } catch {
                let isRedirect = loaded.redirection != nil
                end(await outcome(of: error, status, isRedirect: isRedirect), NetworkFacts(loaded))
                throw error
            }
            end(.response(status: status), NetworkFacts(loaded))
        }

        /// - Parameter isRedirect: whether there was a redirect response. When it is followed, another request of the task
        ///   ends this load.
        private func outcome(of error: any Error, _ status: Int?, isRedirect: Bool) async -> AttemptOutcome {
            guard error is CancellationError else { return .failure(error, status: status) }
            return switch await load.ending() {
            case .failed(let error): .failure(error, status: status)
            case .cancelled, .sessionInvalidated: .failure(URLError(.cancelled), status: status)
            case .replaced, .released, .finished, nil:
                isRedirect ? .redirect(status: status) : .failure(error, status: status)
            }
        }

        private func end(_ outcome: AttemptOutcome, _ network: NetworkFacts? = nil) {
            meters?.end(outcome, network)
            guard let span else { return }
            if span.isRecording {
                span.attributes.merge(outcome.attributes)
                if let network { span.attributes.merge(network.attributes) }
                if let status = outcome.spanStatus { span.setStatus(status) }
            }
            span.end()
        }
    }
#endif
