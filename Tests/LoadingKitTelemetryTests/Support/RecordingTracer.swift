#if Telemetry
    import LoadingKitLoopbackServer
    import Synchronization
    import Tracing

    /// The identifiers of a span, in a context.
    struct SpanIdentity: Sendable, Hashable {
        var trace: Int
        var span: Int
    }

    private enum IdentityKey: ServiceContextKey { typealias Value = SpanIdentity }

    extension ServiceContext {
        var identity: SpanIdentity? {
            get { self[IdentityKey.self] }
            set { self[IdentityKey.self] = newValue }
        }

        /// A context whose span has these identifiers.
        static func with(trace: Int, span: Int) -> ServiceContext {
            var context = ServiceContext.topLevel
            context.identity = SpanIdentity(trace: trace, span: span)
            return context
        }
    }

    /// A span that has ended.
    struct EndedSpan: Sendable {
        var name: String
        var kind: SpanKind
        var identity: SpanIdentity
        var parent: SpanIdentity?
        var attributes: [String: String] = [:]
        var status: SpanStatus?
        var links: [SpanIdentity] = []
        var ends = 0

        subscript(name: String) -> String? { attributes[name] }
    }

    /// Keeps spans in memory.
    final class RecordingTracer: Tracer {
        /// The spans, as they end.
        let ended = LoadingKitLoopbackServer.Recorder<EndedSpan>()
        private let count = Mutex(0)
        private let isRecording: Bool
        private let injection: [(String, String)]

        /// - Parameter injection: injected beside `traceparent` and `tracestate`.
        init(isRecording: Bool = true, injection: [(String, String)] = []) {
            self.isRecording = isRecording
            self.injection = injection
        }

        /// Spans that were started.
        var started: Int { count.withLock { $0 } }

        func startSpan<Instant: TracerInstant>(
            _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
            at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
        ) -> RecordingSpan {
            let parent = context()
            let number = count.withLock { count in
                count += 1
                return count
            }
            var own = parent
            own.identity = SpanIdentity(trace: parent.identity?.trace ?? 1000 + number, span: number)
            let record = EndedSpan(
                name: operationName, kind: kind, identity: SpanIdentity(trace: own.identity?.trace ?? 0, span: number),
                parent: parent.identity)
            return RecordingSpan(own, record, isRecording: isRecording, ended)
        }

        func forceFlush() {}

        func extract<Carrier, Extract: Extractor>(
            _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
        ) where Extract.Carrier == Carrier {}

        func inject<Carrier, Inject: Injector>(
            _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
        ) where Inject.Carrier == Carrier {
            guard let identity = context.identity else { return }
            injector.inject(Self.parent(identity), forKey: "traceparent", into: &carrier)
            injector.inject("test=\(identity.span)", forKey: "tracestate", into: &carrier)
            for (name, value) in injection { injector.inject(value, forKey: name, into: &carrier) }
        }

        /// W3C's format: version, trace, span, flags.
        static func parent(_ identity: SpanIdentity) -> String {
            let hex = { (value: Int, count: Int) in
                let digits = String(value, radix: 16)
                return String(repeating: "0", count: count - digits.count) + digits
            }
            return "00-\(hex(identity.trace, 32))-\(hex(identity.span, 16))-01"
        }
    }

    final class RecordingSpan: Span {
        private struct State {
            var record: EndedSpan
            var attributes: SpanAttributes = [:]
        }

        let context: ServiceContext
        let isRecording: Bool
        private let state: Mutex<State>
        private let ended: LoadingKitLoopbackServer.Recorder<EndedSpan>

        init(
            _ context: ServiceContext, _ record: EndedSpan, isRecording: Bool,
            _ ended: LoadingKitLoopbackServer.Recorder<EndedSpan>
        ) {
            self.context = context
            self.isRecording = isRecording
            self.ended = ended
            state = Mutex(State(record: record))
        }

        var operationName: String {
            get { state.withLock { $0.record.name } }
            set { state.withLock { $0.record.name = newValue } }
        }

        var attributes: SpanAttributes {
            get { state.withLock { $0.attributes } }
            set { state.withLock { $0.attributes = newValue } }
        }

        func setStatus(_ status: SpanStatus) { state.withLock { $0.record.status = status } }

        func addEvent(_ event: SpanEvent) {}

        func recordError<Instant: TracerInstant>(
            _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
        ) {}

        func addLink(_ link: SpanLink) {
            state.withLock { if let identity = link.context.identity { $0.record.links.append(identity) } }
        }

        func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
            let record = state.withLock { state in
                state.record.ends += 1
                var all: [String: String] = [:]
                state.attributes.forEach { name, value in
                    switch value {
                    case .string(let text): all[name] = text
                    case .int64(let number): all[name] = String(number)
                    default: all[name] = "\(value)"
                    }
                }
                state.record.attributes = all
                return state.record
            }
            ended.append(record)
        }
    }
#endif
