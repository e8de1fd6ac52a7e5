#if Telemetry
    import Metrics
    import Foundation
    import LoadingKit
    import Tracing

    /// One exchange of a request and its response: its span, and its metrics.
    struct Attempt {
        private let load: LoadContext
        private let facts: RequestFacts
        private let request: URLRequest
        private let span: (any Span)?
        private let meters: AttemptMeters?

        init(
            _ telemetry: HTTPTelemetry, _ load: LoadContext, _ facts: RequestFacts, _ tracer: (any Tracer)?,
            _ factory: (any MetricsFactory)?
        ) {
            self.load = load
            self.facts = facts
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
            var carrier = FieldCarrier()
            if telemetry.options.shouldPropagate?(load.request) ?? true {
                tracer.inject(span.context, into: &carrier, using: FieldInjector())
                for (name, value) in carrier.fields { request.setValue(value, forHTTPHeaderField: name) }
            }
            request.setContext(RequestContext(span.context, owner: telemetry, outer: outer))
            telemetry.traces.note(span.context, injected: carrier.fields.map(\.name), of: load.task)
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
                loaded = try await Forwarding.load(request, of: load)
            } catch {
                end(await outcome(of: error, nil, isRedirect: false))
                throw error
            }
            let status = (loaded.response as? HTTPURLResponse)?.statusCode
            do {
                try await Forwarding.deliver(loaded, to: load)
            } catch {
                let isRedirect = loaded.redirection != nil
                end(await outcome(of: error, status, isRedirect: isRedirect), NetworkFacts(loaded))
                throw error
            }
            end(.response(status: status), NetworkFacts(loaded))
        }

        private func outcome(of error: any Error, _ status: Int?, isRedirect: Bool) async -> AttemptOutcome {
            switch await Forwarding.ending(by: error, of: load, isRedirect: isRedirect) {
            case .redirect: .redirect(status: status)
            case .failure(let error): .failure(error, status: status)
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
