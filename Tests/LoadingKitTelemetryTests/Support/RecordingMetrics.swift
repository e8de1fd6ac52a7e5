#if Telemetry
    import Metrics
    import Synchronization

    /// Keeps what is recorded in memory.
    final class RecordingMetrics: MetricsFactory {
        /// One value of an instrument.
        struct Sample: Sendable {
            var label: String
            var dimensions: [String: String]
            var value: Double
        }

        private let state = Mutex<(samples: [Sample], made: Int)>(([], 0))

        var samples: [Sample] { state.withLock { $0.samples } }

        /// How many instruments were asked for.
        var made: Int { state.withLock { $0.made } }

        func samples(_ label: String) -> [Sample] { samples.filter { $0.label == label } }

        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            make(label, dimensions)
        }

        func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { make(label, dimensions) }

        func makeRecorder(
            label: String, dimensions: [(String, String)], aggregate: Bool
        ) -> any RecorderHandler {
            make(label, dimensions)
        }

        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { make(label, dimensions) }

        func destroyCounter(_ handler: any CounterHandler) {}
        func destroyMeter(_ handler: any MeterHandler) {}
        func destroyRecorder(_ handler: any RecorderHandler) {}
        func destroyTimer(_ handler: any TimerHandler) {}

        private func make(_ label: String, _ dimensions: [(String, String)]) -> RecordingInstrument {
            state.withLock { $0.made += 1 }
            let dimensions = Dictionary(dimensions) { first, second in "\(first) and \(second)" }
            return RecordingInstrument { [self] value in
                state.withLock { $0.samples.append(Sample(label: label, dimensions: dimensions, value: value)) }
            }
        }
    }

    private final class RecordingInstrument: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
        private let take: @Sendable (Double) -> Void

        init(_ take: @escaping @Sendable (Double) -> Void) { self.take = take }

        func increment(by amount: Int64) { take(Double(amount)) }
        func reset() {}
        func set(_ value: Int64) { take(Double(value)) }
        func set(_ value: Double) { take(value) }
        func increment(by amount: Double) { take(amount) }
        func decrement(by amount: Double) { take(-amount) }
        func record(_ value: Int64) { take(Double(value)) }
        func record(_ value: Double) { take(value) }
        func recordNanoseconds(_ duration: Int64) { take(Double(duration)) }
        func preferDisplayUnit(_ unit: TimeUnit) { if unit != .seconds { take(-1) } }
    }
#endif
